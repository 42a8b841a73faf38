"""The end of the wait for the write lock, and who has it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.test import Client

from ctxhub.core.kit import transactions
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import current_turn, write_transaction
from ctxhub.core.kit.write_queue import QUEUE, QueueTimeout
from tests.hub import LiveHub, McpClient, RestClient

pytestmark = pytest.mark.django_db(transaction=True)
only_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL cuts off a stopped client")

# Takes the turn as a hub does, says so, and is then stopped by the test.
HOLDER = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
os.pwrite(file, f"{os.getpid():<20}{time.time() - 25:<30.3f}".encode(), 0)
print("writing", flush=True)
sys.stdin.read()
"""

SET = {"name": "decision", "arguments": {"action": "set", "key": "a", "value": "b"}}


@contextmanager
def stopped_writer(project_id: int, most_seconds: float = 0.3) -> Iterator[int]:
    """Another client that took the turn and was stopped; its process, as the hub tells it.

    Others wait so long for their turn, but only meanwhile: on a busy machine a free turn takes time, too.
    """
    with _taken(project_id) as process, pytest.MonkeyPatch.context() as patch:
        patch.setattr(QUEUE, "most_seconds", most_seconds)
        yield process


@contextmanager
def _taken(project_id: int) -> Iterator[int]:
    if connection.vendor == "sqlite":
        with _stopped_process() as process:
            yield process
    else:
        with _silent_client(project_id) as process:
            yield process


@contextmanager
def _stopped_process() -> Iterator[int]:
    name = f"{connection.settings_dict['NAME']}.lock"
    command = [sys.executable, "-c", HOLDER, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout
            assert holder.stdout.readline() == b"writing\n"
            os.kill(holder.pid, signal.SIGSTOP)
            yield holder.pid
        finally:
            holder.kill()


@contextmanager
def _silent_client(project_id: int) -> Iterator[int]:
    with closing(psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None})) as client:
        lock = (transactions._LOCK_CLASS, project_id)
        client.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock)
        yield client.info.backend_pid
        client.rollback()  # The server notices later that a client has gone.


def test_a_writer_waits_only_so_long_for_one_that_is_stopped(ada: Caller) -> None:
    with (
        stopped_writer(ada.project_id),
        pytest.raises(QueueTimeout),
        write_transaction(ada.project_id),
    ):
        pass
    with write_transaction(ada.project_id):
        pass


def test_a_write_that_got_no_turn_says_that_nothing_was_written(
    ada: Caller, ada_rest: RestClient, ada_mcp: McpClient
) -> None:
    with stopped_writer(ada.project_id):
        refused = ada_rest.post("decisions/", {"key": "a", "value": "b"})
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SET}
        told = ada_mcp.send("POST", "/mcp", message)
    for reply, error in ((refused, refused.body), (told, told.body["error"]["data"])):
        assert (reply.status, error["error"]) == (503, "internal")
        assert "Nothing was written" in error["message"]
        assert int(reply.headers["retry-after"]) >= 1
    assert ada_mcp.call("decision", "get", key="a")["found"] is False


def test_all_writers_give_up_in_time_and_readers_find_threads_meanwhile(
    hub: LiveHub, ada: Caller, ada_token: str, cy_token: str
) -> None:
    """More writers than slots, of two projects and both faces: one after another, they would wait longer."""
    most_seconds = 6.0

    def write_by_rest(token: str, project: str) -> int:
        return hub.rest(token, project).post("decisions/", {"key": "a", "value": 1}).status

    def write_by_mcp(token: str) -> int:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SET}
        return hub.mcp(token).send("POST", "/mcp", message).status

    readers = [hub.rest(ada_token), hub.rest(cy_token, "hermes")]
    assert hub.mcp(cy_token).call("hub", "stats")["agents"] >= 0
    with ThreadPoolExecutor(24) as crowd, stopped_writer(ada.project_id, most_seconds):
        began = time.monotonic()
        writes = [crowd.submit(write_by_rest, ada_token, "apollo") for _ in range(8)]
        writes += [crowd.submit(write_by_mcp, ada_token) for _ in range(8)]
        if connection.vendor == "sqlite":  # One lock for all projects.
            writes += [crowd.submit(write_by_rest, cy_token, "hermes") for _ in range(4)]
            writes += [crowd.submit(write_by_mcp, cy_token) for _ in range(4)]
        assert [reader.get("stats/").status for reader in readers] == [200, 200]
        assert "agents" in hub.mcp(cy_token).call("hub", "stats")
        assert not any(write.done() for write in writes)
        assert {write.result() for write in writes} == {503}
        assert time.monotonic() - began < 3 * most_seconds


def test_readiness_names_the_process_that_keeps_others_from_writing(
    ada: Caller, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with stopped_writer(ada.project_id) as process:
        if connection.vendor == "postgresql":
            threading.Event().wait(0.4)
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert f"process {process} has been writing" in answer.json()["writers"]
    assert f"process {process} has been writing" in caplog.text
    assert client.get("/readyz").json()["status"] == "ok"


@only_sqlite
def test_a_writer_that_gave_up_leaves_no_lock_behind(ada: Caller) -> None:
    for _ in range(3):
        with stopped_writer(ada.project_id):
            for _ in range(2):
                assert not QUEUE.take(0.05)
        with write_transaction(ada.project_id):
            assert current_turn()
    assert current_turn() is None
    assert Path(f"{connection.settings_dict['NAME']}.lock").stat().st_size <= 100


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no such limits")
def test_the_limits_hold_for_a_write_and_no_longer(ada: Caller) -> None:
    def limits() -> tuple[str, ...]:
        return tuple(_shown(name) for name in ("lock_timeout", "idle_in_transaction_session_timeout"))

    before = limits()
    with write_transaction(ada.project_id):
        assert limits() == ("20s", "1min")
    assert limits() == before


def _shown(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])
