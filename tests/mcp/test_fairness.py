"""Neither the writers of a project nor its readers keep other projects waiting."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection

from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project
from ctxhub.mcp import call_threads
from ctxhub.mcp.call_threads import THREADS
from ctxhub.toolbox import dispatch
from tests.hub import LiveHub, McpClient, RestClient
from tests.timing import PATIENCE_SECONDS


@contextmanager
def long_write(project: Project) -> Iterator[None]:
    started, finish = threading.Event(), threading.Event()

    def write() -> None:
        with write_transaction(project.pk):
            started.set()
            finish.wait(PATIENCE_SECONDS)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    try:
        yield
    finally:
        finish.set()
        writer.join()


def test_another_project_reads_while_one_projects_writers_wait(
    hub: LiveHub, apollo: Project, ada_token: str, cy_mcp: McpClient, cy_rest: RestClient
) -> None:
    cy_rest.get("stats/")
    cy_mcp.call("hub", "stats")

    def write_by_rest(number: int) -> int:
        return hub.rest(ada_token).post("decisions/", {"key": f"r{number}", "value": 1}).status

    def write_by_mcp(number: int) -> str:
        return str(hub.mcp(ada_token).call("decision", "set", key=f"m{number}", value=1)["result"])

    with ThreadPoolExecutor(2 * THREADS) as crowd:
        with long_write(apollo):
            by_rest = [crowd.submit(write_by_rest, number) for number in range(THREADS)]
            by_mcp = [crowd.submit(write_by_mcp, number) for number in range(THREADS)]
            time.sleep(0.5)
            assert cy_rest.get("stats/").status == 200
            assert cy_mcp.call("hub", "stats")["agents"] == 1
            assert not any(written.done() for written in by_rest)
            assert not any(written.done() for written in by_mcp)
        assert [written.result() for written in by_rest] == [201] * THREADS
        assert [written.result() for written in by_mcp] == ["created"] * THREADS


@contextmanager
def blocked_readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Calls of apollo stay in their threads; "at work" for each, and "done" for each that went on."""
    notes: list[str] = []
    finish = threading.Event()

    def count(caller: Caller) -> int:
        if caller.project.slug == "apollo":
            notes.append("at work")
            finish.wait(PATIENCE_SECONDS)
            notes.append("done")
        return count_urgent(caller)

    monkeypatch.setattr(dispatch, "count_urgent", count)
    monkeypatch.setattr(call_threads, "threads", call_threads.CallThreads())  # Nobody was seen lately.
    try:
        yield notes
    finally:
        finish.set()


@pytest.mark.parametrize("face", ["mcp", "rest"])
def test_another_project_reads_while_one_projects_readers_hold_all_threads(
    hub: LiveHub,
    ada_token: str,
    cy_mcp: McpClient,
    cy_rest: RestClient,
    face: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(_: int) -> None:
        if face == "mcp":
            hub.mcp(ada_token).call("hub", "stats")
        else:
            hub.rest(ada_token).post("call/hub/stats/")

    with ThreadPoolExecutor(2 * THREADS) as crowd, blocked_readers(monkeypatch) as notes:
        crowd.map(read, range(2 * THREADS))
        while len(notes) < THREADS // 2:
            time.sleep(0.01)
        assert cy_mcp.call("hub", "stats")["agents"] == 1
        assert cy_rest.post("call/hub/stats/").status == 200
        assert "done" not in notes
        assert len(notes) <= THREADS
