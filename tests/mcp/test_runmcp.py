"""Who speaks on stdio, and for which project: the arguments of `runmcp`."""

import pytest
from django.core.management import CommandError, call_command

from ctxhub.core.errors import InvalidInput
from ctxhub.core.models import Project
from ctxhub.core.toolbox.dispatch import call
from ctxhub.management.commands.runmcp import find_caller

CREDENTIAL = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def test_whoever_runs_it_may_do_everything_as_system(apollo: Project) -> None:
    caller = find_caller("apollo", "", "")
    assert (caller.agent, caller.project, set(caller.scopes)) == (
        "system",
        apollo,
        {"read", "write", "admin"},
    )


def test_an_agent_and_scopes_can_be_chosen(apollo: Project) -> None:
    caller = find_caller("apollo", " ada ", "Read, write")
    assert (caller.agent, set(caller.scopes)) == ("ada", {"read", "write"})


def test_the_only_project_need_not_be_named(apollo: Project) -> None:
    assert find_caller(None, "", "").project == apollo


@pytest.mark.parametrize("arguments", [["--project", "apolo"], []])
def test_a_project_must_be_one_there_is(apollo: Project, hermes: Project, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="apollo, hermes"):
        call_command("runmcp", *arguments)


def test_without_any_project_the_way_to_one_is_told(db: None) -> None:
    with pytest.raises(CommandError, match="setup"):
        call_command("runmcp")


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (["--tools", "decisions"], "decision"),
        (["--scopes", "reed"], "read"),
        (["--scopes", ","], "read"),
        (["--agent", "a" * 101], "100"),
        (["--profile", "small"], "core"),
        (["--surface", "round"], "flat"),
    ],
)
def test_a_wrong_choice_is_refused_in_words(apollo: Project, arguments: list[str], right: str) -> None:
    with pytest.raises(CommandError, match=right):
        call_command("runmcp", *arguments)


def test_storing_a_credential_has_to_be_asked_for(apollo: Project) -> None:
    said = {"action": "set", "key": "k", "value": CREDENTIAL}
    with pytest.raises(InvalidInput, match="credential"):
        call(find_caller(None, "", ""), "decision", said)
    assert call(find_caller(None, "", "read,write,admin"), "decision", said)["result"] == "created"
