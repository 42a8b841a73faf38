"""What may wait a second is written in the background, and before the process ends."""

import threading
import time
from collections.abc import Iterator, Sequence

import pytest
from django.db import OperationalError

from ctxhub.core.kit import background
from ctxhub.core.kit.background import BackgroundWriter, When, all_writers, flush_all
from tests.timing import PATIENCE_SECONDS


class Written:
    """Collects the batches that were written; `error` is raised instead."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.error: Exception | None = None
        self.came = threading.Event()

    def __call__(self, entries: Sequence[int]) -> None:
        if self.error:
            raise self.error
        self.batches.append(list(entries))
        self.came.set()


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def writer(written: Written) -> Iterator[BackgroundWriter[int]]:
    writer = BackgroundWriter[int]("tests", written)
    yield writer
    background._writers.remove(writer)


def test_entries_of_a_second_are_written_together(writer: BackgroundWriter[int], written: Written) -> None:
    started = time.monotonic()
    for n in range(3):
        writer.put(n)
    assert written.came.wait(PATIENCE_SECONDS)
    assert time.monotonic() - started > 0.9
    assert written.batches == [[0, 1, 2]]


def test_two_hundred_items_are_written_at_once(written: Written) -> None:
    writer = BackgroundWriter[int]("tests", written, seconds=2 * PATIENCE_SECONDS)
    try:
        writer.put(1, items=150)
        writer.put(2, items=50)
        assert written.came.wait(PATIENCE_SECONDS)
    finally:
        background._writers.remove(writer)
    assert written.batches == [[1, 2]]


def test_the_thread_leaves_what_waits_for_a_flush(written: Written) -> None:
    """Also while it waits for more: else it wrote what a later test put."""
    writer = BackgroundWriter[int]("tests", written, seconds=0.5)
    try:
        writer.put(1)
        writer.when = When.ON_FLUSH
        assert not written.came.wait(0.8)
        writer.when = When.IN_BACKGROUND
        writer.put(2, items=200)
        assert written.came.wait(PATIENCE_SECONDS)
    finally:
        background._writers.remove(writer)
    assert written.batches == [[1, 2]]


def test_what_comes_later_is_written_by_the_same_thread(
    writer: BackgroundWriter[int], written: Written
) -> None:
    for n in (1, 2):
        written.came.clear()
        writer.put(n, items=200)
        assert written.came.wait(PATIENCE_SECONDS)
    assert written.batches == [[1], [2]]


def test_a_flush_writes_in_this_thread(writer: BackgroundWriter[int], written: Written) -> None:
    writer.when = When.ON_FLUSH
    writer.put(1)
    assert written.batches == []
    flush_all()
    flush_all()
    assert written.batches == [[1]]


def test_while_the_database_is_away_entries_are_kept(writer: BackgroundWriter[int], written: Written) -> None:
    writer.when, written.error = When.ON_FLUSH, OperationalError("away")
    writer.put(1)
    assert writer.flush() is False
    writer.put(2)
    written.error = None
    assert writer.flush() is True
    assert written.batches == [[1, 2]]


def test_the_oldest_are_dropped_beyond_a_limit(writer: BackgroundWriter[int], written: Written) -> None:
    writer.when, written.error = When.ON_FLUSH, OperationalError("away")
    for n in range(background.MOST_KEPT + 5):
        writer.put(n)
    writer.flush()
    written.error = None
    writer.flush()
    assert (written.batches[0][0], len(written.batches[0])) == (5, background.MOST_KEPT)


def test_another_error_drops_the_entries(writer: BackgroundWriter[int], written: Written) -> None:
    writer.when, written.error = When.ON_FLUSH, ValueError("bug")
    writer.put(1)
    assert writer.flush() is True
    written.error = None
    writer.flush()
    assert written.batches == []


def test_putting_never_fails(writer: BackgroundWriter[int], written: Written) -> None:
    writer.when, written.error = When.AT_ONCE, ValueError("bug")
    writer.put(1)


def test_every_writer_of_the_hub_is_flushed() -> None:
    assert len(all_writers()) >= 2
