"""Time in tests, which a busy machine stretches: it may need twenty times as long for the same work.

So no test holds a wall-clock time. What has to be fast is held to processor time; what has to come is waited
for with patience that only a hang exhausts. What is to come is told apart from what ends by itself by letting
the latter last longer than any patience. tests/architecture/test_timing.py watches over this.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from django.db import connection

# Only what hangs takes as long.
PATIENCE_SECONDS = 60.0
# Longer than a busy machine takes for what comes at once, and shorter than the longest wait of a call: what
# comes within it was not waited for in vain.
SOON_SECONDS = 30.0
TRACED = 5
# Processor time that `_known_work` takes where the limits were set.
KNOWN_SECONDS = 0.0015

T = TypeVar("T")


@contextmanager
def within_cpu_seconds(limit: float) -> Iterator[None]:
    """Assert that the block takes less processor time than this; five times as much under coverage.

    It counts all threads of this process and, on PostgreSQL, the process that serves this thread. A slower
    processor, or one whose cache others use, has more time.
    """
    began = cpu_seconds()
    yield
    check_cpu_seconds(cpu_seconds() - began, limit)


def check_cpu_seconds(took: float, limit: float) -> None:
    """Assert that processor time is below the limit of `within_cpu_seconds`."""
    limit *= TRACED if sys.gettrace() else 1
    limit *= slowness() if took >= limit else 1
    assert took < limit, f"{took:.2f} s of processor time, the limit is {limit:.2f} s"


def slowness() -> float:
    """How many times as long as usual the processor takes for the same work just now, at least 1."""
    return max(1.0, min(cpu_seconds_of(_known_work) for _ in range(9)) / KNOWN_SECONDS)


def _known_work() -> None:
    words = sorted(f"{number * 7919 % 10_007}" for number in range(5_000))
    assert len({word: len(word) for word in words}) == len(words)


def cpu_seconds_of(run: Callable[[], object]) -> float:
    began = cpu_seconds()
    run()
    return cpu_seconds() - began


def cpu_seconds() -> float:
    return time.process_time() + server_cpu_seconds()


def server_cpu_seconds() -> float:
    """The processor time of the PostgreSQL process that serves this thread, if it runs on this machine."""
    if connection.vendor != "postgresql" or connection.connection is None:
        return 0.0
    process = Path("/proc", str(connection.connection.info.backend_pid))
    if not (process / "comm").exists() or not (process / "comm").read_text().startswith("postgres"):
        return 0.0
    return int((process / "schedstat").read_text().split()[0]) / 1e9


def wait_until(is_so: Callable[[], T | None], patience_seconds: float = PATIENCE_SECONDS) -> T:
    """Wait until the answer is true, and return it. Fails when the patience ends."""
    until = time.monotonic() + patience_seconds
    while not (answer := is_so()):
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.01)
    return answer
