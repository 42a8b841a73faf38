"""A database that a newer version has migrated: commands refuse it, and a running process writes no more."""

import logging
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import ProgrammingError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit import newer_schema
from ctxhub.core.kit.background import BackgroundWriter, When
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import NEWER, OLDER, OLDER_HINT, failure_of
from ctxhub.core.kit.newer_schema import (
    NewerSchema,
    OlderSchema,
    find_lacking_migrations,
    find_unknown_migrations,
    look,
    look_if_due,
)
from ctxhub.core.kit.transactions import touch_transaction, try_touch_transaction
from ctxhub.core.models import Project
from ctxhub.management import refusals
from ctxhub.management.refusals import refuse_other_version, refuse_unmigrated
from ctxhub.mcp import schema_watch
from ctxhub.toolbox.dispatch import call
from memory.decisions.queries import find_decision
from memory.decisions.services import set_decision
from tests.core.command_line import migrated_installation
from tests.hub import McpClient
from tests.people import superuser
from tests.stdio import stdio_hub

pytestmark = pytest.mark.django_db(transaction=True)
LATER = ("memory", "0999_of_a_newer_version")


@pytest.fixture
def migrated_on(ada: Caller) -> Iterator[None]:
    """A newer version has applied a migration of its own; nobody has looked yet."""
    set_decision(caller=ada, key="kept", value="x")
    MigrationRecorder(connection).record_applied(*LATER)
    yield
    MigrationRecorder(connection).record_unapplied(*LATER)


@pytest.fixture
def newer(migrated_on: None) -> None:
    """The running process has learned of it."""
    look()


# -- What is unknown -------------------------------------------------------------------------------


def test_only_a_migration_without_a_file_is_unknown(migrated_on: None) -> None:
    assert find_unknown_migrations() == ("memory.0999_of_a_newer_version",)


def test_a_retired_one_is_known(migrated_on: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_schema, "RETIRED", frozenset({LATER}))
    assert find_unknown_migrations() == ()


@pytest.mark.usefixtures("db")
def test_other_apps_may_have_whatever_they_like() -> None:
    MigrationRecorder(connection).record_applied("auth", "0099_of_a_newer_django")
    assert find_unknown_migrations() == ()
    MigrationRecorder(connection).record_unapplied("auth", "0099_of_a_newer_django")


# -- What is lacking -------------------------------------------------------------------------------


@pytest.mark.usefixtures("db")
def test_a_complete_database_lacks_nothing() -> None:
    assert find_lacking_migrations() == ()


@pytest.fixture
def older(apollo: Project) -> Iterator[None]:
    """The last migration of messages was not applied. The running process has learned of it."""
    MigrationRecorder(connection).record_unapplied(*LATEST)
    look()
    yield
    MigrationRecorder(connection).record_unapplied(*LATEST)
    MigrationRecorder(connection).record_applied(*LATEST)


LATEST = ("tracking", sorted(name for app, name in newer_schema._known.names if app == "tracking")[-1])


def test_every_call_on_an_older_database_says_so(older: None, ada: Caller) -> None:
    for run in (
        lambda: call(ada, "decision", {"action": "list"}),
        lambda: set_decision(caller=ada, key="k", value=1),
    ):
        with pytest.raises(OlderSchema):
            run()
    failure = failure_of(OlderSchema())
    assert (failure.message, failure.hint) == (OLDER.format(count=1, first=".".join(LATEST)), OLDER_HINT)
    assert "retry_after" not in failure.details


@pytest.fixture
def secret(apollo: Project) -> str:
    return create_token(project=apollo, agent="ada", scopes=["read", "write"]).secret


@pytest.fixture
def person(db: None) -> Client:
    return superuser()


def test_over_http_it_is_503_without_a_time(secret: str, person: Client, older: None) -> None:
    answer = Client().get("/api/v1/projects/apollo/decisions/", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, "Retry-After" in answer) == (503, False)
    assert answer.json()["hint"] == OLDER_HINT
    page = person.get("/admin/")
    assert (page.status_code, "Retry-After" in page) == (503, False)


def test_the_first_call_after_the_migration_is_served(older: None, ada: Caller) -> None:
    MigrationRecorder(connection).record_applied(*LATEST)
    assert set_decision(caller=ada, key="k", value="x")["result"] == "created"


# -- Commands --------------------------------------------------------------------------------------


def test_commands_refuse_it_before_anything_is_changed(migrated_on: None) -> None:
    for refuse in (refuse_other_version, refuse_unmigrated, lambda: call_command("migrate", verbosity=0)):
        with pytest.raises(CommandError, match=r"does not know memory\.0999_of_a_newer_version.*git pull"):
            refuse()


@pytest.mark.django_db
def test_a_table_that_another_setup_makes_meanwhile_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Exception | tuple[str, ...]] = [ProgrammingError("no such table"), ("memory.0999_new",)]

    def find() -> tuple[str, ...]:
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return answer

    monkeypatch.setattr(refusals, "find_unknown_migrations", find)
    with pytest.raises(CommandError, match=r"memory\.0999_new"):
        refuse_other_version()
    assert answers == []


def test_each_command_says_so(django_db_setup: None) -> None:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        at.run(
            "shell",
            "-c",
            f"""if True:
            from django.db import connection
            from django.db.migrations.recorder import MigrationRecorder
            MigrationRecorder(connection).record_applied(*{LATER!r})""",
        )
        before = {file.name: file.stat().st_mode for file in at.folder.iterdir()}
        for command in (["setup", "--no-input"], ["serve", "--port", "0"], ["runmcp"], ["token", "list"]):
            refused = at.run(*command)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert "this one does not know memory.0999_of_a_newer_version" in refused.stderr
            assert len(refused.stderr.splitlines()) == 1
        assert {file.name: file.stat().st_mode for file in at.folder.iterdir()} == before


# -- A running process -----------------------------------------------------------------------------


def test_services_write_no_more_and_read_on(newer: None, ada: Caller) -> None:
    with pytest.raises(NewerSchema):
        set_decision(caller=ada, key="k", value="x")
    with try_touch_transaction() as may_write:
        assert not may_write
    assert find_decision(ada.project_id, "kept")


def test_rest_answers_503_and_still_reads(migrated_on: None, apollo: Project) -> None:
    secret = create_token(project=apollo, agent="ada", scopes=["read", "write"]).secret
    look()
    url, bearer = "/api/v1/projects/apollo/decisions/", {"Authorization": f"Bearer {secret}"}
    answer = Client().post(url, {"key": "k", "value": "x"}, content_type="application/json", headers=bearer)
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert (answer.json()["error"], answer.json()["message"]) == ("internal", NEWER)
    assert "Restart this process" in answer.json()["hint"]
    assert Client().get(f"{url}?key=kept", headers=bearer).status_code == 200


@pytest.mark.parametrize(
    "page", ["memory/decision/add/?project=apollo", "auth/user/add/", "core/project/add/"]
)
def test_forms_of_the_admin_are_refused(migrated_on: None, page: str) -> None:
    """Accounts are written by Django itself, without any service."""
    client = superuser()
    look()
    assert client.get(f"/admin/{page}").status_code == 200
    answer = client.post(f"/admin/{page}", {"username": "eve"})
    assert answer.status_code == 503
    assert NEWER in answer.content.decode()


def test_the_hub_is_not_ready(migrated_on: None) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["migrations"].startswith(
        "restart this process: a newer version has applied memory.0999"
    )
    assert Client().get("/healthz").status_code == 200
    MigrationRecorder(connection).record_unapplied(*LATER)
    assert Client().get("/readyz").status_code == 200


def test_http_says_so(migrated_on: None, ada_mcp: McpClient) -> None:
    look()
    call = {"name": "decision", "arguments": {"action": "set", "key": "k", "value": "x"}}
    reply = ada_mcp.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert (reply.status, reply.headers["retry-after"]) == (503, "30")
    assert (reply.body["error"]["data"]["error"], reply.body["error"]["data"]["message"]) == (
        "internal",
        NEWER,
    )
    assert ada_mcp.call("decision", "get", key="kept")["decision"]["value"] == "x"


def test_stdio_says_so(ada: Caller) -> None:
    set_decision(caller=ada, key="kept", value="x")
    with stdio_hub("--project", "apollo", "--agent", "ada", code=LOOKS_EACH_TIME) as client:
        client.start()
        assert client.call("decision", "set", key="k", value="x")["result"] == "created"
        MigrationRecorder(connection).record_applied(*LATER)
        try:
            assert client.call("decision", "set", key="k", value="y")["message"] == NEWER
            assert client.call("decision", "get", key="kept")["decision"]["value"] == "x"
        finally:
            MigrationRecorder(connection).record_unapplied(*LATER)
        assert client.call("decision", "set", key="k", value="y")["result"] == "updated"


LOOKS_EACH_TIME = ["from ctxhub.core.kit import newer_schema", "newer_schema.SECONDS_BETWEEN_LOOKS = 0"]


def test_what_waits_in_the_background_is_kept_and_told_once(
    newer: None, caplog: pytest.LogCaptureFixture
) -> None:
    written: list[str] = []

    def write(entries: object) -> None:
        with touch_transaction():
            written.append("all")

    writer: BackgroundWriter[str] = BackgroundWriter("a test", write)
    writer.when = When.ON_FLUSH
    writer.put("entry")
    caplog.clear()
    assert [writer.flush() for _ in range(3)] == [False] * 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    newer_schema._known.unknown = ()
    assert writer.flush()
    assert written == ["all"]


def test_a_serving_process_looks_by_itself(migrated_on: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_schema._known, "looked_at", float("-inf"))

    async def serve_a_moment() -> None:
        with anyio.move_on_after(0.5):
            await schema_watch.watch_schema()

    anyio.run(serve_a_moment)
    assert newer_schema.is_newer()


def test_it_looks_again_only_after_a_while(
    migrated_on: None, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(newer_schema._known, "looked_at", float("-inf"))
    with django_assert_num_queries(1):
        for _ in range(5):
            look_if_due()
    assert newer_schema.SECONDS_BETWEEN_LOOKS <= 30
