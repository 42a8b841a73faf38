"""The SQLite file is replaced or removed under open windows: none writes where nobody reads."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.kit.failures import LEFT_LOG, MISSING, NOTHING_WRITTEN
from tests.backups import installed
from tests.core.command_line import Installation
from tests.stdio import StdioClient
from tests.timing import PATIENCE_SECONDS, SOON_SECONDS, wait_until
from tests.windows import back_up, database_of, keys, move_away, move_back, put_in_place, window

pytestmark = pytest.mark.one_engine
AWAY = f"{MISSING} {NOTHING_WRITTEN}"


@pytest.fixture(scope="module")
def made(django_db_setup: None) -> Iterator[Installation]:
    with installed("demo") as at:
        yield at


@pytest.fixture
def at(made: Installation) -> Iterator[Installation]:
    """A hub of its own, with the project demo."""
    with made.copied() as copy:
        yield copy


def write(client: StdioClient, key: str) -> dict[str, Any]:
    return client.call("decision", "set", key=key, value="x")


# -- Replaced --------------------------------------------------------------------------------------


def test_a_window_writes_into_the_database_that_serve_reads(at: Installation) -> None:
    with window(at, "ada") as ada:
        write(ada, "kept")
        copy = back_up(at)
        write(ada, "later")
        with at.serving("--port", "0"):
            pass
        put_in_place(at, copy)
        for end in ("-wal", "-shm"):
            Path(f"{database_of(at)}{end}").unlink(missing_ok=True)
        token = at.run("token", "create", "--project", "demo", "--agent", "ben", "--plain").stdout.strip()
        with at.serving("--port", "0") as server:
            assert write(ada, "lost")["result"] == "created"
            assert ada.call("file", "lease", path="src/**", exclusive=True)["lease_id"]
            ben = server.hub.mcp(token)
            found = {row["key"] for row in ben.rows("decision", "list")}
            assert found == {"kept", "lost"}
            assert ben.call("file", "lease", path="src/a.py", exclusive=True)["error"] == "conflict"


def test_two_windows_meet_in_the_restored_database(at: Installation) -> None:
    with window(at, "ada") as ada, window(at, "ben") as ben:
        write(ada, "kept")
        copy = back_up(at)
        write(ben, "later")
        move_away(at)
        put_in_place(at, copy)
        assert ada.call("file", "lease", path="src/**", exclusive=True)["lease_id"]
        assert ben.call("file", "lease", path="src/**", exclusive=True)["error"] == "conflict"
        assert write(ben, "anew")["result"] == "created"
        assert {row[0] for row in ada.call("decision", "list")["rows"]} == {"kept", "anew"}


def test_a_window_that_ends_on_the_old_file_leaves_the_log_of_the_new_one(at: Installation) -> None:
    """SQLite's last connection to a file removes its log by name."""
    with window(at, "ada") as ada, window(at, "ben") as ben:
        write(ada, "kept")
        copy = back_up(at)
        write(ben, "later")
        move_away(at)
        put_in_place(at, copy)
        assert write(ben, "anew")["result"] == "created"
        log = Path(f"{database_of(at)}-wal").stat().st_ino
        assert ada.finish()[2] == 0
        assert Path(f"{database_of(at)}-wal").stat().st_ino == log
        with window(at, "cy") as cy:
            assert cy.call("decision", "get", key="anew")["decision"]["value"] == "x"


def test_a_window_is_in_the_project_of_its_name_and_in_no_session(at: Installation) -> None:
    """In the other database both ids are those of others."""
    with installed("first", "demo") as other, window(at, "ada") as ada:
        with window(other, "ben") as ben:
            assert ben.call("session", "save", summary="Of Ben.", workspace_id="w")["session"] == 1
        assert ada.call("session", "save", summary="Of Ada.", workspace_id="w")["session"] == 1
        move_away(at)
        put_in_place(at, back_up(other))
        assert ada.call("session", "save", summary="Anew.", workspace_id="w")["result"] == "created"
        assert [row[1] for row in ada.call("session", "list")["rows"]] == ["ada", "ben"]


def test_a_database_without_the_project_is_told(at: Installation) -> None:
    with installed("first") as other, window(at, "ada") as ada:
        move_away(at)
        put_in_place(at, back_up(other))
        refused = write(ada, "k")
        assert (refused["error"], "no project 'demo'" in refused["message"]) == ("not_found", True)


def test_a_wait_ends_when_the_database_is_replaced(at: Installation) -> None:
    with window(at, "ada") as ada:
        write(ada, "kept")
        copy = back_up(at)
        call = {"name": "hub", "arguments": {"action": "wait", "wait_seconds": 60}}
        ada.write(json.dumps({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call}).encode())
        assert ada.request("ping")["result"] == {}, "read behind the wait, which has begun"
        move_away(at)
        put_in_place(at, copy)
        assert ada.read(SOON_SECONDS)["id"] == "w"


def test_the_log_of_the_old_file_is_not_applied_to_the_new_one(at: Installation) -> None:
    with window(at, "ada") as ada:
        write(ada, "kept")
        copy = back_up(at)
        write(ada, "later")
        database_of(at).rename(at.folder / "replaced")
        put_in_place(at, copy)
        assert write(ada, "anew")["message"] == f"{LEFT_LOG} {NOTHING_WRITTEN}"
        assert "later" not in keys(copy)
        for end in ("-wal", "-shm"):
            Path(f"{database_of(at)}{end}").rename(at.folder / f"replaced{end}")
        assert write(ada, "anew")["result"] == "created"
        assert keys(database_of(at)) == {"kept", "anew"}
        assert keys(at.folder / "replaced") >= {"kept", "later"}


def test_restores_under_writing_windows_lose_no_acknowledged_write(at: Installation) -> None:
    done = threading.Event()
    acknowledged: list[str] = []

    def keep_writing(client: StdioClient, name: str) -> None:
        number = 0
        while not done.is_set():
            number += 1
            if write(client, f"{name}-{number}").get("result") == "created":
                acknowledged.append(f"{name}-{number}")

    with window(at, "ada") as ada, window(at, "ben") as ben:
        writers = [
            threading.Thread(target=keep_writing, args=[client, name])
            for client, name in ((ada, "ada"), (ben, "ben"))
        ]
        for writer in writers:
            writer.start()
        old = []
        for number in range(4):
            at_least(acknowledged, len(acknowledged) + 10)
            copy = back_up(at, f"backup-{number}")
            at_least(acknowledged, len(acknowledged) + 10)
            old.append(move_away(at, f"replaced-{number}"))
            put_in_place(at, copy)
        before_last = len(acknowledged)
        at_least(acknowledged, before_last + 20)
        done.set()
        for writer in writers:
            writer.join(PATIENCE_SECONDS)
    kept = keys(database_of(at))
    assert {*acknowledged[before_last + 2 :]} <= kept, "each window may have been answered just before"
    assert {*acknowledged} <= kept.union(*map(keys, old))


def at_least(written: list[str], count: int) -> None:
    wait_until(lambda: len(written) >= count)


# -- Removed ---------------------------------------------------------------------------------------


def test_the_next_call_says_that_the_file_is_gone(at: Installation) -> None:
    with window(at, "ada") as ada:
        write(ada, "kept")
        for end in ("", "-wal", "-shm"):
            Path(f"{database_of(at)}{end}").unlink()
        refused = write(ada, "k")
        assert refused["error"] == "internal"
        assert refused["message"].startswith(MISSING)
        assert ada.call("decision", "get", key="kept")["message"] == AWAY
        assert not database_of(at).exists()


def test_a_file_that_was_away_and_comes_back_works_again(at: Installation) -> None:
    with window(at, "ada") as ada:
        write(ada, "kept")
        for number in range(3):
            move_away(at)
            assert write(ada, "gone")["message"].startswith(MISSING)
            assert write(ada, "gone")["message"] == AWAY
            move_back(at)
            assert write(ada, f"back-{number}")["result"] == "created"
        assert keys(database_of(at)) >= {"kept", "back-0", "back-1", "back-2"}


def test_the_file_alone_may_be_away_for_a_while(at: Installation) -> None:
    """Its log stays beside its name, and is its own."""
    with window(at, "ada") as ada:
        write(ada, "kept")
        away = database_of(at).rename(at.folder / "away")
        assert write(ada, "gone")["message"].startswith(MISSING)
        away.rename(database_of(at))
        assert write(ada, "back")["result"] == "created"
        assert keys(database_of(at)) >= {"kept", "back"}


def test_serve_says_that_the_file_is_gone(at: Installation) -> None:
    token = at.run("token", "create", "--project", "demo", "--agent", "ada", "--plain").stdout.strip()
    with at.serving("--port", "0") as server:
        rest, mcp = server.hub.rest(token, "demo"), server.hub.mcp(token)
        assert rest.put("decisions/kept/", {"value": "x"}).status == 201
        move_away(at)
        assert rest.put("decisions/k/", {"value": "x"}).body["message"].startswith(MISSING)
        call = {"name": "decision", "arguments": {"action": "set", "key": "k", "value": "x"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        reply = mcp.send("POST", "/mcp", message)
        assert reply.status == 503
        assert reply.body["error"]["message"].startswith(MISSING)
        move_back(at)
        assert rest.put("decisions/back/", {"value": "x"}).status == 201


# -- Of an older version ---------------------------------------------------------------------------


def test_runmcp_ends_on_a_database_that_lacks_migrations(at: Installation) -> None:
    assert at.run("migrate", "core", "0025", "--verbosity=0").returncode == 0
    refused = at.run("runmcp", "--project", "demo")
    assert refused.returncode == 1
    assert (
        "the first is core.0026_bin. Run `manage.py setup`, or `manage.py migrate` alone." in refused.stderr
    )


def test_a_window_says_at_each_call_that_the_restored_database_is_older(at: Installation) -> None:
    with at.copied() as older, window(at, "ada") as ada:
        assert older.run("migrate", "core", "0025", "--verbosity=0").returncode == 0
        move_away(at)
        put_in_place(at, back_up(older))
        for refused in (write(ada, "k"), ada.call("decision", "list"), write(ada, "k")):
            assert refused["message"].startswith("The database lacks ")
            assert "manage.py setup" in refused["hint"]
            assert "retry_after" not in refused
        assert at.run("setup", "--no-input", "--beside-others").returncode == 0
        assert write(ada, "k")["result"] == "created"
