"""Workers of `serve` begin to listen together: the first one would get all clients that come back."""

import asyncio
import multiprocessing
from threading import Thread

import pytest

from ctxhub.management.worker_sockets import WorkerSocket
from ctxhub.mcp import other_workers
from ctxhub.mcp.other_workers import Starts, wait_for_others
from tests.timing import PATIENCE_SECONDS

pytestmark = pytest.mark.one_engine


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    found = Starts.of(2)
    assert found
    monkeypatch.setattr(other_workers, "of_this_worker", [found])
    return found


def start_one() -> Thread:
    thread = Thread(target=lambda: asyncio.run(wait_for_others()), daemon=True)
    thread.start()
    return thread


def test_the_first_one_waits_for_the_second(starts: Starts) -> None:
    first = start_one()
    first.join(0.2)
    assert first.is_alive()
    asyncio.run(wait_for_others())
    first.join(PATIENCE_SECONDS)
    assert not first.is_alive()


def test_one_that_replaces_another_waits_for_nobody(starts: Starts, monkeypatch: pytest.MonkeyPatch) -> None:
    starts.add()
    starts.add()
    monkeypatch.setattr(other_workers, "MOST_SECONDS", 0)
    starts.add()
    assert starts.wait()


def test_one_that_fails_to_start_holds_nobody_up_for_ever(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_workers, "MOST_SECONDS", 0.1)
    starts.add()
    assert not starts.wait()


def test_a_single_process_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert other_workers.of_this_worker == []
    asyncio.run(wait_for_others())


def test_a_worker_gets_them_with_its_socket(starts: Starts) -> None:
    with WorkerSocket.bound("127.0.0.1", 0, starts) as socket:
        context = multiprocessing.get_context("spawn")
        worker = context.Process(target=_start, args=(socket,))
        worker.start()
        worker.join(PATIENCE_SECONDS)
        assert worker.exitcode == 0
    assert starts.started.value == 1


def _start(socket: WorkerSocket) -> None:
    [mine] = other_workers.of_this_worker
    mine.add()
    assert socket.getsockname()[1] > 0
