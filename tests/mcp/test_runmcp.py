"""The arguments of `runmcp`: project, agent, scopes, tools and transport."""

import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Project
from ctxhub.management.commands.runmcp import admission, find_caller
from ctxhub.toolbox.dispatch import call
from tests.stdio import command
from tests.timing import PATIENCE_SECONDS

pytestmark = pytest.mark.one_engine

ENVIRONMENT = {"CTXHUB_VAR_DIR": str(settings.VAR_DIR), "CTXHUB_SECRET_KEY": settings.SECRET_KEY}
CREDENTIAL = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def test_the_default_agent_is_system_with_all_scopes(apollo: Project) -> None:
    caller = find_caller("apollo", "", "")
    assert (caller.agent, caller.project, set(caller.scopes)) == (
        "system",
        apollo,
        {"read", "write", "admin"},
    )


def test_an_agent_and_scopes_can_be_chosen(apollo: Project) -> None:
    caller = find_caller("apollo", " ada ", "Read, write")
    assert (caller.agent, set(caller.scopes)) == ("ada", {"read", "write"})


def test_the_only_project_is_the_default(apollo: Project) -> None:
    assert find_caller(None, "", "").project == apollo


@pytest.mark.parametrize("arguments", [["--project", "apolo"], []])
def test_the_project_must_exist(apollo: Project, hermes: Project, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="apollo, hermes"):
        call_command("runmcp", *arguments)


def test_without_any_project_setup_is_suggested(db: None) -> None:
    with pytest.raises(CommandError, match="setup"):
        call_command("runmcp")


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (["--tools", "decisions"], "decision"),
        (["--scopes", "reed"], "read"),
        (["--scopes", ","], "read"),
        (["--agent", "a" * 101], "100"),
        (["--agent", CREDENTIAL], "credential"),
        (["--agent", "${AGENT}"], "did not fill in"),
        (["--profile", "small"], "core"),
        (["--surface", "round"], "flat"),
    ],
)
def test_an_invalid_option_is_refused_with_a_suggestion(
    apollo: Project, arguments: list[str], right: str
) -> None:
    with pytest.raises(CommandError, match=right):
        call_command("runmcp", *arguments)


def test_over_http_the_options_narrow_the_scopes_of_a_token(ada: Caller, cy: Caller) -> None:
    admit = admission("apollo", "zed", "read")
    admitted = admit(ada)
    assert (admitted.agent, set(admitted.scopes)) == ("zed", {"read"})
    assert admit(replace(ada, pinned=True)).agent == "ada"
    with pytest.raises(NotAllowed, match="for 'apollo' only"):
        admit(cy)


def test_over_http_callers_are_unchanged_without_options(ada: Caller, cy: Caller) -> None:
    assert [admission(None, "", "")(caller) for caller in (ada, cy)] == [ada, cy]


def test_over_http_an_unknown_project_is_refused_at_the_start(apollo: Project) -> None:
    with pytest.raises(CommandError, match=r"There is no project 'apolo'\. Projects: apollo"):
        call_command("runmcp", "--http", "--project", "apolo", "--port", "0")


def test_over_http_a_taken_port_is_reported(apollo: Project) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(CommandError, match=f"Port {port} on 127.0.0.1 is taken"):
            call_command("runmcp", "--http", "--port", str(port))


def test_over_http_a_database_without_tables_is_reported(tmp_path: Path) -> None:
    done = subprocess.run(
        [*command("--http"), "--port", "0"],
        env={**ENVIRONMENT, "PATH": os.environ["PATH"], "DATABASE_URL": f"sqlite:///{tmp_path}/new.sqlite3"},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 1
    assert b"manage.py setup" in done.stderr


def test_storing_a_credential_needs_the_admin_scope_explicitly(apollo: Project) -> None:
    arguments = {"action": "set", "key": "k", "value": CREDENTIAL}
    with pytest.raises(InvalidInput, match="credential"):
        call(find_caller(None, "", ""), "decision", arguments)
    allowed = {**arguments, "allow_secret": True}
    with pytest.raises(NotAllowed):
        call(find_caller(None, "", "read,write"), "decision", allowed)
    assert call(find_caller(None, "", "read,write,admin"), "decision", allowed)["result"] == "created"
