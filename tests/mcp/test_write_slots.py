"""Writers of a project wait in one order, whether they came by MCP or by REST."""

import asyncio

import pytest

from ctxhub.mcp import write_slots
from ctxhub.mcp.db_threads import run_write
from ctxhub.mcp.worker_threads import WorkerThreads
from ctxhub.mcp.write_slots import write_slot

PATH = "/api/v1/projects/apollo/decisions/"


@pytest.mark.django_db
def test_writers_of_both_faces_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_slots, "WRITES_OF_A_PROJECT", 1)
    order: list[str] = []

    async def write_by_rest(threads: WorkerThreads, name: str) -> None:
        async with threads.acquire("POST", PATH):
            order.append(name)

    async def write_in_turns() -> None:
        threads = WorkerThreads()
        async with asyncio.TaskGroup() as writers, write_slot("apollo"):
            for number in range(4):
                writers.create_task(write_by_rest(threads, f"rest {number}"))
                writers.create_task(run_write("apollo", order.append, f"mcp {number}"))
            await asyncio.sleep(0)
            assert order == []

    asyncio.run(write_in_turns())
    assert order == [f"{face} {number}" for number in range(4) for face in ("rest", "mcp")]


def test_reads_and_other_projects_wait_for_no_write_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_slots, "WRITES_OF_A_PROJECT", 1)

    async def read_beside_a_writer() -> None:
        threads = WorkerThreads()
        async with write_slot("apollo"), threads.acquire("GET", PATH), write_slot("gemini"):
            pass

    asyncio.run(asyncio.wait_for(read_beside_a_writer(), 30))
