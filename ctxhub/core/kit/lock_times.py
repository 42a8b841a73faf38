"""Measures how long each write transaction holds the write lock. Records nothing unless it is asked to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

Clock = Callable[[], float]


class _Recorder:
    """Where holds are recorded, and the clock that measures them; `holds` is None while nobody asks."""

    holds: list[float] | None = None
    clock: Clock = perf_counter


_recorder = _Recorder()


@contextmanager
def recorded_holds(clock: Clock = perf_counter) -> Iterator[list[float]]:
    """The seconds of all holds of this process during the block, in the order of their ends."""
    holds: list[float] = []
    _recorder.holds, _recorder.clock = holds, clock
    try:
        yield holds
    finally:
        _recorder.holds = None


@contextmanager
def hold() -> Iterator[Callable[[], None]]:
    """Measure a hold: from the call of what is yielded until the end of the block."""
    starts: list[float] = []
    try:
        yield lambda: starts.append(_recorder.clock()) if _recorder.holds is not None else None
    finally:
        if starts and _recorder.holds is not None:
            _recorder.holds.append(_recorder.clock() - starts[0])
