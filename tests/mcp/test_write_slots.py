"""Writers of a project wait in one order, whether they came by MCP or by REST; nobody else does."""

import asyncio
import json
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.accounts.access_tokens import create_token, verify
from ctxhub.core.kit.write_queue import QUEUE, QueueTimeout
from ctxhub.core.models import Project
from ctxhub.mcp import write_slots
from ctxhub.mcp.db_threads import run_write
from ctxhub.mcp.rest_requests import written_project
from ctxhub.mcp.shares import HUB
from ctxhub.mcp.write_slots import write_slot
from tests.timing import PATIENCE_SECONDS

BASE = "/api/v1/projects/apollo"


@pytest.fixture
def _one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_slots, "WRITES_OF_A_PROJECT", 1)


@pytest.mark.django_db
@pytest.mark.usefixtures("_one_slot")
def test_writers_take_turns() -> None:
    order: list[int] = []

    async def write_in_turns() -> None:
        async with asyncio.TaskGroup() as writers, write_slot("apollo"):
            for number in range(4):
                writers.create_task(run_write("apollo", order.append, number))
            await asyncio.sleep(0)
            assert order == []

    asyncio.run(write_in_turns())
    assert order == [0, 1, 2, 3]


@pytest.mark.usefixtures("_one_slot")
def test_other_projects_wait_for_no_slot_of_this_one() -> None:
    async def write_beside_a_writer() -> None:
        async with write_slot("apollo"), write_slot("hermes"):
            pass

    asyncio.run(asyncio.wait_for(write_beside_a_writer(), PATIENCE_SECONDS))


def test_the_writers_of_a_process_are_limited() -> None:
    async def write_in_all_projects() -> None:
        async with write_slot("a"), write_slot("b"), write_slot("c"):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(_hold("d"), 0.05)

    asyncio.run(write_in_all_projects())


@pytest.mark.usefixtures("_one_slot")
def test_the_wait_for_a_slot_has_an_end_and_is_part_of_the_wait_for_the_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def wait_twice() -> tuple[float, float]:
        async with write_slot("apollo"):
            monkeypatch.setattr(QUEUE, "most_seconds", 0.05)
            with pytest.raises(QueueTimeout):
                await _hold("apollo")
            monkeypatch.setattr(QUEUE, "most_seconds", PATIENCE_SECONDS)
            waiting = asyncio.create_task(_hold("apollo"))
            await asyncio.sleep(0.1)
        return await waiting, QUEUE.seconds_left

    left, left_without_wait = asyncio.run(wait_twice())
    assert left <= PATIENCE_SECONDS - 0.09
    assert left_without_wait == PATIENCE_SECONDS


async def _hold(slug: str) -> float:
    async with write_slot(slug):
        return QUEUE.seconds_left


# -- Who takes a slot over REST ----------------------------------------------------------------------


CASES: list[tuple[str, str, str, Any, str | None]] = [
    ("writer", "POST", f"{BASE}/decisions/", {}, "apollo"),
    ("writer", "POST", "/api/v1/projects/-/decisions/", {}, "apollo"),
    ("writer", "PATCH", f"{BASE}/memories/1/", {}, "apollo"),
    ("writer", "DELETE", f"{BASE}/memories/1/", None, "apollo"),
    ("writer", "POST", f"{BASE}/call/decision/set/", {}, "apollo"),
    ("writer", "POST", f"{BASE}/call/decision/", {"action": "set"}, "apollo"),
    ("writer", "POST", f"{BASE}/memories/capture/", {}, "apollo"),
    ("admin", "DELETE", f"{BASE}/decisions/a/", None, "apollo"),
    ("writer", "GET", f"{BASE}/decisions/", None, None),
    ("writer", "POST", f"{BASE}/search/", {"query": "x"}, None),
    ("writer", "POST", f"{BASE}/brief/", {}, None),
    ("writer", "POST", f"{BASE}/call/decision/get/", {}, None),
    ("writer", "POST", f"{BASE}/call/decision/help/", {}, None),
    ("writer", "POST", f"{BASE}/call/decision/", {"action": "get"}, None),
    ("writer", "POST", f"{BASE}/call/decision/", [], None),
    ("writer", "POST", f"{BASE}/nothing/", {}, None),
    ("writer", "PUT", f"{BASE}/stats/", {}, None),
    ("writer", "DELETE", f"{BASE}/decisions/a/", None, None),
    ("reader", "POST", f"{BASE}/decisions/", {}, None),
    ("reader", "POST", f"{BASE}/call/decision/set/", {}, None),
    ("stranger", "POST", f"{BASE}/decisions/", {}, None),
    ("unknown", "POST", f"{BASE}/decisions/", {}, None),
    ("none", "POST", f"{BASE}/decisions/", {}, None),
    ("none", "POST", "/admin/login/", None, None),
]


def test_only_a_request_that_may_write_takes_a_slot(
    apollo: Project, hermes: Project, subtests: Subtests
) -> None:
    tokens = {
        "writer": create_token(project=apollo, name="writer").secret,
        "reader": create_token(project=apollo, name="reader", scopes=["read"]).secret,
        "admin": create_token(project=apollo, name="admin", scopes=["admin"]).secret,
        "stranger": create_token(project=hermes, name="stranger").secret,
        "unknown": "ctx_unknown",
    }
    for secret in list(tokens.values())[:-1]:
        verify(secret)  # Another thread would not see the rows of this test.
    for token, method, path, body, slug in CASES:
        headers = {"authorization": f"Bearer {tokens[token]}"} if token in tokens else {}
        sent = json.dumps(body).encode()
        with subtests.test(token=token, method=method, path=path):
            assert asyncio.run(written_project(HUB, {"method": method, "path": path}, headers, sent)) == slug
