"""Metrics of several workers: each tells the sum, also of those that have ended."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.command_line import Server, migrated_installation
from tests.core.test_serve_command import children_of, listening_sockets, listening_workers
from tests.hub import LiveHub
from tests.timing import PATIENCE_SECONDS, wait_until

pytestmark = [
    pytest.mark.one_engine,
    pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc"),
]

CALLS = 'ctxhub_requests_total{face="mcp",operation="decision.list",outcome="ok"}'


@pytest.fixture
def server(django_db_setup: None) -> Iterator[Server]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        with at.serving("--port", "0", "--workers", "2") as server:
            yield server


def told(hub: LiveHub, sample: str) -> float:
    """What one of the workers tells: a connection of its own leads to any of them."""
    text = hub.http().send("GET", "/metrics").body
    found = re.search(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def folder_of(server: Server) -> Path:
    """Where the workers count, as their environment names it."""
    for process in children_of(server.process.pid):
        for line in Path(f"/proc/{process}/environ").read_text().split("\0"):
            if line.startswith("PROMETHEUS_MULTIPROC_DIR="):
                return Path(line.partition("=")[2])
    raise AssertionError("no worker has a folder")


def counting(folder: Path) -> set[int]:
    """The processes that have counted."""
    return {int(file.stem.rpartition("_")[2]) for file in folder.glob("counter_*.db")}


def call_until_both_have_answered(server: Server, folder: Path) -> int:
    """How many calls that took."""
    token, calls = (server.log.parent / "setup_token").read_text(), 0
    while len(counting(folder)) < 2:
        server.hub.mcp(token).call("decision", "list")
        calls += 1
        assert calls < 1_000
    return calls


def both_listening(server: Server) -> dict[int, set[str]] | None:
    """The sockets of both workers; None as long as one is not up: its files are there before it listens."""
    found = listening_workers(server.process.pid, server.hub.port)
    return found if len(found) == 2 else None


def test_each_worker_tells_the_sum_and_nothing_is_lost_with_one(server: Server) -> None:
    folder = folder_of(server)
    assert folder.stat().st_mode & 0o777 == 0o700
    calls = call_until_both_have_answered(server, folder)
    assert {told(server.hub, CALLS) for _ in range(10)} == {calls}
    workers = wait_until(lambda: both_listening(server))
    killed = min(workers.keys() & counting(folder))
    sockets = workers[killed]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not sockets <= listening_sockets(server.hub.port))
    assert {told(server.hub, CALLS) for _ in range(5)} == {calls}
    had_waiting = folder / f"gauge_livesum_{killed}.db"
    wait_until(lambda: told(server.hub, "ctxhub_waiting") == 0 and not had_waiting.exists())
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(PATIENCE_SECONDS)
    wait_until(lambda: not folder.exists())
