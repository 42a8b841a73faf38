"""Twenty windows of one agent and ten subagents edit the same files at once, and some die without a word."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from tests.hub import LiveHub, McpClient
from tests.integrations.bridges import bridge
from tests.stdio import StdioClient
from tracking.leases.services import acquire_lease
from tracking.models import Lease

WINDOWS = [f"claude-{n}" for n in range(20)]
SUBAGENTS = [f"claude-{n}/part-{n % 3}" for n in range(10)]
EDITS = 500
FILES = [f"src/{n}.py" for n in range(6)]
HEADER = "Ctxhub-Session"
Calls = tuple[Callable[[str], Any], Callable[[int], Any]]
"""Leases a file; releases a lease."""


class Editing:
    """Notes who edits which file, and every edit of a file that somebody else edits."""

    def __init__(self) -> None:
        self.doubled: list[tuple[str, str, str]] = []
        self.done = 0
        self._at: dict[str, str] = {}
        self._lock = threading.Lock()

    @contextmanager
    def of(self, file: str, session: str) -> Iterator[None]:
        with self._lock:
            if (other := self._at.get(file)) and not is_within(session, other):
                self.doubled.append((file, other, session))
            self._at[file] = session
        yield
        with self._lock:
            self.done += 1
            if self._at.get(file) == session:
                del self._at[file]


def is_within(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


@contextmanager
def by_rest(hub: LiveHub, token: str, session: str) -> Iterator[Calls]:
    client = hub.rest(token)
    named = {HEADER: session}

    def lease(file: str) -> Any:
        return client.post("leases/", {"paths": [file]}, named).body

    def release(lease_id: int) -> Any:
        return client.post("leases/release/", {"lease_id": lease_id}, named).body

    yield lease, release


@contextmanager
def by_mcp(hub: LiveHub, token: str, session: str) -> Iterator[Calls]:
    yield calls_of(hub.mcp(token, **{HEADER: session}))


@contextmanager
def by_bridge(hub: LiveHub, token: str, session: str) -> Iterator[Calls]:
    with bridge(hub, token, CTXHUB_SESSION=session) as client:
        client.start()
        yield calls_of(client)


FACES = (by_rest, by_mcp, by_bridge)


def calls_of(client: McpClient | StdioClient) -> Calls:
    return (
        lambda file: client.call("file", "lease", paths=[file]),
        lambda lease_id: client.call("file", "release", lease_id=lease_id),
    )


@pytest.mark.every_engine
def test_no_file_is_edited_by_two_and_nothing_stays_held(hub: LiveHub, ada: Caller, ada_token: str) -> None:
    sessions, numbers, editing = [*WINDOWS, *SUBAGENTS], count(), Editing()

    def work(number: int) -> int:
        session, released = sessions[number], 0
        with FACES[number % len(FACES)](hub, ada_token, session) as (lease, release):
            while (n := next(numbers)) < EDITS:
                file = FILES[(n + number) % len(FILES)]
                answer = lease(file)
                if "lease_id" not in answer:
                    assert "another session of yours" in answer["message"], answer
                    continue
                with editing.of(file, session):
                    pass
                answer = release(answer["lease_id"])
                released += answer["released"]
        return released

    with ThreadPoolExecutor(len(sessions)) as threads:
        released = sum(threads.map(work, range(len(sessions))))
    assert editing.doubled == []
    assert released == editing.done > 0
    assert not Lease.objects.in_project(ada.project).filter(released_at=None).exists()


def test_what_dead_windows_hold_blocks_the_agent_for_a_quarter_of_an_hour(ada: Caller, ben: Caller) -> None:
    begun = datetime.now(UTC)
    with time_machine.travel(begun, tick=False):
        for session, file in zip(WINDOWS, FILES, strict=False):
            acquire_lease(caller=ada.in_session(session), paths=[file], minutes=60)
    with time_machine.travel(begun + timedelta(minutes=16), tick=False):
        for file in FILES:
            assert acquire_lease(caller=ada.in_session("new"), paths=[file])["result"] == "created"
            with pytest.raises(Conflict):
                acquire_lease(caller=ben.in_session("new"), paths=[file])
    with time_machine.travel(begun + timedelta(minutes=61), tick=False):
        for file in FILES:
            assert acquire_lease(caller=ben.in_session("new"), paths=[file])["result"] == "created"
