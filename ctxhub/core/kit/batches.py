"""Keeps write transactions short: many rows in batches, long computations outside of the lock."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ctxhub.core.kit.frozen import frozen

T = TypeVar("T")

ROWS_AT_ONCE = 500
BYTES_AT_ONCE = 8 * 1024 * 1024
# An estimate, on the safe side for most texts.
BYTES_PER_TOKEN = 5
# A text that others change meanwhile is computed again, so many times.
MOST_COMPUTATIONS = 4

DoBatch = Callable[[], Mapping[str, int]]
"""Writes a batch in a transaction of its own; returns how many rows, by plural, and nothing at the end."""


@dataclass
class _Work:
    """What a call has done outside of its transaction, and how many transactions this run has ended."""

    batches: dict[str, Counter[str]] = field(default_factory=dict)
    computed: dict[Hashable, Any] = field(default_factory=dict)
    early: dict[Hashable, "_EarlyWrite"] = field(default_factory=dict)
    early_results: dict[Hashable, Any] = field(default_factory=dict)
    kept: list[Callable[[], object]] = field(default_factory=list)
    remembered: dict[Hashable, dict[str, str]] = field(default_factory=dict)
    open_writes: int = 0
    writes: int = 0


@frozen
class _EarlyWrite:
    write: Callable[[], Any]
    undo: Callable[[Any], object]


class _DoFirst(Exception):
    """Rolls back the open transaction, so that something is done before it is run again."""

    def __init__(self, do: Callable[[], None]) -> None:
        super().__init__()
        self.do = do


_work: ContextVar[_Work | None] = ContextVar("work outside of the transaction", default=None)


def in_batches(run: Callable[[], T]) -> T:
    """Run a write whose transaction may ask for `do_first` or `compute_first`. Surrounds the outermost one.

    If the call is cut off, its batches stay written, and the same call writes the others.
    """
    if _work.get() is not None:
        return run()
    work = _Work()
    token = _work.set(work)
    try:
        while True:
            work.open_writes = work.writes = 0
            work.kept = []
            try:
                return run()
            except _DoFirst as first:
                do = first.do
            _do(do)
            if work.early:
                _write_kept(work.kept)
    finally:
        _work.reset(token)


def _do(do: Callable[[], None]) -> None:
    """Do it, after what it asks for itself."""
    while True:
        try:
            return do()
        except _DoFirst as first:
            inner = first.do
        _do(inner)


def remembered(key: Hashable) -> dict[str, str]:
    """Texts that all runs of this call share."""
    work = _work.get()
    return work.remembered.setdefault(key, {}) if work else {}


def _write_kept(writes: Sequence[Callable[[], object]]) -> None:
    token = _work.set(None)
    try:
        for write in writes:
            write()
    finally:
        _work.reset(token)


@contextmanager
def counted_write() -> Iterator[None]:
    """Surrounds each write transaction: after the first one a run may not be repeated."""
    if (work := _work.get()) is None:
        yield
        return
    work.open_writes += 1
    try:
        yield
    finally:
        work.open_writes -= 1
        work.writes += not work.open_writes


def done_before(key: str) -> Counter[str] | None:
    """How many rows this call has written in batches, by plural; None if it has not."""
    work = _work.get()
    return work.batches.get(key) if work else None


def do_first(key: str, do_batch: DoBatch) -> Counter[str]:
    """Leave the open transaction, write all batches, run it again; then return how many rows were written.

    Call it before the transaction writes, inside `in_batches`.
    """
    if (done := done_before(key)) is not None:
        return done
    work = _work.get()
    assert work

    def do() -> None:
        counts = work.batches.setdefault(key, Counter())
        while batch := do_batch():
            counts.update(batch)

    if work.open_writes:
        raise _DoFirst(do)
    do()
    return work.batches[key]


def compute_first(key: Hashable, compute: Callable[[], T]) -> T:
    """The result of a long computation: leaves the open transaction, computes it, and runs that again.

    Computes at once outside of a write transaction, without `in_batches`, and in the second of several.
    """
    work = _work.get()
    if work is None:
        return compute()
    if key in work.computed:
        result: T = work.computed[key]
        return result
    if not work.open_writes or work.writes or len(work.computed) >= MOST_COMPUTATIONS:
        return compute()

    def do() -> None:
        work.computed[key] = compute()

    raise _DoFirst(do)


# -- What a repeated transaction writes before it takes the lock -----------------------------------


def write_early(key: Hashable, write: Callable[[], Any], undo: Callable[[Any], object]) -> None:
    """Let the next run begin its transaction with `write`, before it takes the lock.

    For rows that no other transaction reads or changes. Call it in a computation of `compute_first`. `undo`
    gets the result if the transaction does not ask for it with `written_early`.
    """
    if work := _work.get():
        work.early[key] = _EarlyWrite(write, undo)


def written_early(key: Hashable) -> Any:
    """The result of what the open transaction has written before it took the lock; None if nothing."""
    work = _work.get()
    return work.early_results.pop(key, None) if work else None


def keep_if_repeated(write: Callable[[], object]) -> None:
    """Commit a write of the open transaction by itself before that is run again, so that its ids remain."""
    if (work := _work.get()) and work.open_writes and not work.writes:
        work.kept.append(write)


@contextmanager
def early_writes() -> Iterator[bool]:
    """Surrounds the lock of each write transaction, inside of `counted_write`; whether it writes after it."""
    work = _work.get()
    if work is None or not work.early or work.writes or work.open_writes > 1:
        yield False
        return
    work.early_results = {key: early.write() for key, early in work.early.items()}
    try:
        yield True
        for key, result in work.early_results.items():
            work.early[key].undo(result)
    finally:
        work.early_results = {}
