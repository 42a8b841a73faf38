"""Notes the reads of snapshots."""

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime

from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import try_touch_transaction
from memory.snapshots.sql.accesses import COUNTED_EVERY, count_accesses, mark_hits

MOST_REMEMBERED = 50_000
Key = tuple[int, str, int]
"""Project, folded name of the agent, snapshot."""


@frozen
class _Read:
    """The snapshots that an agent (by its folded name) read at a time."""

    project_id: int
    agent: str
    keys: Sequence[Key]
    at: datetime


def note_accesses(caller: Caller, ids: Iterable[int], at: datetime) -> None:
    """Count that the caller's agent reads snapshots, at most once a minute for an agent and a snapshot.

    An optional write in the background: it records no event, waits for no lock, and never fails.
    """
    agent = caller.agent.casefold()
    keys = _take_due([(caller.project_id, agent, row_id) for row_id in dict.fromkeys(ids)], at)
    if keys:
        _WRITER.put(_Read(caller.project_id, agent, keys, at), len(keys))


def _write(reads: Sequence["_Read"]) -> None:
    """Count these reads; those that do not count now may do so when they are repeated."""
    for read in reads:
        counted: list[int] = []
        try:
            counted = _count(read.project_id, read.agent, [row_id for *_, row_id in read.keys], read.at)
        finally:
            _forget([key for key in read.keys if key[2] not in counted])


def _count(project_id: int, agent: str, ids: list[int], at: datetime) -> list[int]:
    """Count the reads, and return the snapshots for which they count; none if a writer is at work."""
    with try_touch_transaction() as may_write:
        counted = count_accesses(project_id, agent, ids, at) if may_write else []
        if counted:
            mark_hits(counted, at)
    return counted


def _take_due(keys: list[Key], at: datetime) -> list[Key]:
    """The reads that count, which from now on do not for a minute."""
    with _lock:
        due = [key for key in keys if key not in _noted or at - _noted[key] >= COUNTED_EVERY]
        if len(_noted) > MOST_REMEMBERED:
            _noted.clear()
        _noted.update(dict.fromkeys(due, at))
    return due


def _forget(keys: list[Key]) -> None:
    with _lock:
        for key in keys:
            _noted.pop(key, None)


# When this process last noted a read: spares writes, and counts right where agents take turns.
_noted: dict[Key, datetime] = {}
_lock = threading.Lock()
when_replaced.append(_noted.clear)
_WRITER = BackgroundWriter("noting what snapshots were read", _write)
