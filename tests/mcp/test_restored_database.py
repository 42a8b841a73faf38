"""`manage.py restore --replace` under running processes: a window over stdio and `serve`."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxhub.core.kit.failures import OTHER_KEY
from tests.backups import back_up, installed, keys_of, restored, secret_key_of, token_of, with_key
from tests.core.command_line import Installation, Server
from tests.hub import RestClient
from tests.stdio import StdioClient
from tests.timing import SOON_SECONDS, wait_until
from tests.windows import window

KEY = "one-key-for-both-0123456789-abcdefghijklmnopqrstuvwxyz"
RESTART = "restart this process"


@pytest.fixture(scope="module")
def made(django_db_setup: None) -> Iterator[Installation]:
    """A hub with the decision `kept`, and a backup of it."""
    with installed("demo") as at:
        with window(at, "ada") as ada:
            assert ada.call("decision", "set", key="kept", value="x")["result"] == "created"
        token_of(at)
        back_up(at)
        yield at


@pytest.fixture
def at(made: Installation) -> Iterator[Installation]:
    with made.copied() as copy:
        yield copy


@pytest.fixture(scope="module")
def other(django_db_setup: None) -> Iterator[Installation]:
    """Another hub, where `demo` has another id."""
    with installed("first", "demo") as at:
        yield at


def backup_of(at: Installation) -> Path:
    return at.folder / "backups" / "one.tar"


def keys_over_stdio(client: StdioClient) -> set[str]:
    return {row[0] for row in client.call("decision", "list")["rows"]}


def keys_over_rest(rest: RestClient) -> set[str]:
    """None while a connection of the hub's is told that the database was replaced, to come again."""
    return {item["key"] for item in rest.get("decisions/").body.get("items", [])}


def answered(server: Server, token: str) -> RestClient:
    """A client whose first call after a restore is behind it: that one may be told to come again."""
    rest = server.hub.rest(token, "demo")
    wait_until(lambda: rest.get("decisions/").status == 200)
    return rest


def test_both_go_on_with_what_was_restored(at: Installation) -> None:
    token = token_of(at)
    back_up(at, "with-token.tar")
    with window(at, "ada") as ada, at.serving("--port", "0") as server:
        rest = server.hub.rest(token, "demo")
        assert ada.call("decision", "set", key="later", value="x")["result"] == "created"
        assert keys_over_rest(rest) == {"kept", "later"}
        restored(at, at.folder / "backups" / "with-token.tar", "--replace")
        wait_until(lambda: keys_over_stdio(ada) == {"kept"})  # A read looks once a second.
        wait_until(lambda: keys_over_rest(answered(server, token)) == {"kept"})
        assert ada.call("decision", "set", key="anew", value="x")["result"] == "created"
        wait_until(lambda: keys_over_rest(answered(server, token)) == {"kept", "anew"})
        assert rest.put("decisions/rest/", {"value": "x"}).status == 201
        assert keys_over_stdio(ada) == {"kept", "anew", "rest"}


def test_writes_under_a_restore_are_in_it_or_were_not_answered(at: Installation) -> None:
    """Whoever was told `created` after the restore finds it there."""
    token = token_of(at)
    path = back_up(at, "with-token.tar")
    ended, written = threading.Event(), list[str]()

    def keep_writing() -> None:
        rest = server.hub.rest(token, "demo")
        while not ended.is_set():
            key = f"at{len(written)}"
            if rest.put(f"decisions/{key}/", {"value": "x"}).status in (200, 201):
                written.append(key)

    with at.serving("--port", "0") as server:
        writer = threading.Thread(target=keep_writing)
        writer.start()
        wait_until(lambda: len(written) > 10)
        restored(at, path, "--replace")
        after = len(written)
        wait_until(lambda: len(written) > after + 10)
        ended.set()
        writer.join()
    found = keys_of(at)
    assert {*written[after + 1 :]} <= found, "the first one may have been answered just before"
    assert "at0" not in found
    assert at.run("reindex", "--check", "--all").returncode == 0


def test_a_caller_is_in_the_project_of_its_name(made: Installation, other: Installation) -> None:
    """In the database that is restored, its id is that of another project."""
    with other.copied() as ours_of_other, made.copied() as at:
        other_at, at = with_key(ours_of_other, KEY), with_key(at, KEY)
        other_token = token_of(other_at)
        with window(other_at, "ben") as ben:
            ben.call("decision", "set", key="of_demo", value="x")
        path = back_up(other_at)
        with window(at, "ada") as ada:
            assert keys_over_stdio(ada) == {"kept"}
            restored(at, path, "--replace")
            assert ada.call("decision", "set", key="anew", value="x")["result"] == "created"
            assert keys_over_stdio(ada) == {"of_demo", "anew"}
        with at.serving("--port", "0") as server:
            assert keys_over_rest(server.hub.rest(other_token, "demo")) == {"of_demo", "anew"}


def test_with_another_key_they_ask_to_be_restarted(at: Installation, other: Installation) -> None:
    token, other_token = token_of(at), token_of(other)
    path = back_up(other)
    with window(at, "ada") as ada:
        with at.serving("--port", "0") as server:
            assert keys_over_rest(server.hub.rest(token, "demo")) == {"kept"}
            assert ada.call("decision", "get", key="kept")["decision"]
            restored(at, path, "--replace")
            for secret in (other_token, token):
                wait_until(lambda: told(server, secret) == (503, True))  # noqa: B023
            mcp = server.hub.mcp(other_token)
            reply = mcp.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert reply.status == 503
            assert reply.body["error"]["message"].startswith(OTHER_KEY)
            page = server.hub.http().send("GET", "/admin/login/")
            assert (page.status, RESTART in page.body) == (503, True)
            ready = server.hub.http().send("GET", "/readyz")
            assert (ready.status, ready.body["migrations"]) == (
                503,
                "restart this process: the hub was restored with another secret key",
            )
        # It has never read the key before, and goes on.
        wait_until(lambda: keys_over_stdio(ada) == set())
    assert secret_key_of(at) == secret_key_of(other)
    with at.serving("--port", "0") as server:
        assert keys_over_rest(server.hub.rest(other_token, "demo")) == set()
        assert server.hub.rest(token, "demo").get("decisions/").status == 401


def told(server: Server, secret: str) -> tuple[int, bool]:
    reply = server.hub.rest(secret, "demo").get("decisions/")
    return reply.status, RESTART in str(reply.body)


def test_a_wait_ends_with_a_restore(at: Installation) -> None:
    with window(at, "ada") as ada:
        call = {"name": "hub", "arguments": {"action": "wait", "wait_seconds": 60}}
        ada.write(json.dumps({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call}).encode())
        assert ada.request("ping")["result"] == {}, "read behind the wait, which has begun"
        restored(at, backup_of(at), "--replace")
        assert ada.read(SOON_SECONDS)["id"] == "w"
