"""Reads snapshots for a caller, by id or in the order of a view, and notes that they were read."""

import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection

from ctxhub.core.given import GivenItem, give
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, read_id
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import try_touch_transaction
from ctxhub.core.search.search import search
from memory.predictions.predictions import HIT_WITHIN
from memory.snapshots.inputs import clean_view
from memory.snapshots.models import Tier
from memory.snapshots.queries import COLUMNS, REASONS, get_snapshot, list_rows, reasons_item
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow

COUNTED_EVERY = timedelta(minutes=1)


def count_accesses(project_id: int, folded: str, ids: Sequence[int], at: datetime) -> list[int]:
    """Count a read by an agent, by its folded name; returns the snapshots that it counts for.

    It does not count if the same agent was the last reader, less than a minute ago.
    """
    which, id_values = sql.among("id", ids)
    reader = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    due = f"""
        SELECT id FROM memory_snapshot WHERE project_id = %s AND {which} AND (last_accessed IS NULL
        OR last_accessed <= %s OR coalesce(last_accessed_by_id, 0) <> coalesce(({reader}), 0))
        {_unlocked()}"""
    moment = sql.stored_time(at)
    who: list[Any] = [project_id, folded]
    counted = sql.rows(
        f"""
        UPDATE memory_snapshot SET access_count = access_count + 1, last_accessed = %s, touched_at = %s,
        tier = {Tier.ACTIVE.value}, last_accessed_by_id = ({reader})
        WHERE {sql.among_found("id", due)} RETURNING id""",
        [moment, moment, *who, project_id, *id_values, sql.stored_time(at - COUNTED_EVERY), *who],
    )
    return [row_id for (row_id,) in counted]


def mark_hits(snapshot_ids: Sequence[int], at: datetime) -> None:
    """Mark the open predictions of snapshots that are read now as hits."""
    which, ids = sql.among("snapshot_id", snapshot_ids)
    found = f"""
        SELECT id FROM memory_predictionoutcome WHERE {which} AND created_at >= %s AND created_at <= %s
        AND hit IS NULL {_unlocked()}"""
    times = [sql.stored_time(at - HIT_WITHIN), sql.stored_time(at)]
    where = sql.among_found("id", found)
    sql.execute(f"UPDATE memory_predictionoutcome SET hit = %s WHERE {where}", [True, *ids, *times])


def _unlocked() -> str:
    """Leaves out rows that another transaction has locked: a read waits for no writer."""
    return "FOR UPDATE SKIP LOCKED" if connection.vendor == "postgresql" else ""


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
        due = [key for key in keys if key not in _noted_at or at - _noted_at[key] >= COUNTED_EVERY]
        if len(_noted_at) > MOST_REMEMBERED:
            _noted_at.clear()
        _noted_at.update(dict.fromkeys(due, at))
    return due


def _forget(keys: list[Key]) -> None:
    with _lock:
        for key in keys:
            _noted_at.pop(key, None)


# When this process last noted a read: spares writes, and counts right where agents take turns.
_noted_at: dict[Key, datetime] = {}
_lock = threading.Lock()
when_replaced.append(_noted_at.clear)
_WRITER = BackgroundWriter("noting what snapshots were read", _write)


MOST_LOADED = 10
# An archaeologist looks among the newest.
LOOKED_THROUGH = 50
LONG_AGO = datetime.min.replace(tzinfo=UTC)
NAMES = (*LISTED, "prediction_score")

IN_ORDER: dict[str, Callable[[SnapshotRow], Any]] = {
    "historian": lambda row: _newest(row),
    "prophet": lambda row: (-1 if row.prediction_score is None else row.prediction_score, *_newest(row)),
    "archaeologist": lambda row: row.last_accessed or LONG_AGO,
    "minimalist": lambda row: _newest(row),
    "auditor": lambda row: _newest(row),
}
"""The sort key of a view; all but archaeologist's descend."""


def load(project_id: int, view: str, limit: int) -> list[SnapshotRow]:
    """The snapshots that a view shows first."""
    view, limit = clean_view(view), clean_limit(limit, at_most=MOST_LOADED)
    rows = _foremost(project_id, limit) if view == "prophet" else []
    if not rows:
        rows = _newest_rows(project_id, LOOKED_THROUGH if view == "archaeologist" else limit)
    return in_order(rows, view)[:limit]


def search_rows(project_id: int, query: str, *, view: str | None = None, limit: int = 20) -> Listing:
    """The snapshots that match best, in the order of the view; without one the best come first."""
    view = clean_view(view) if view else ""
    found = search(project_id, query, detail="ids", limit=limit, kinds=["snapshot"])
    stored = SNAPSHOTS.read(project_id, [hit.ranked.candidate.object_id for hit in found.hits], NAMES)
    rows = [*stored.values()]
    did_you_mean = found.search.did_you_mean if found.search else None
    extra = {**found.total, **({"did_you_mean": did_you_mean} if did_you_mean else {})}
    return listing(project_id, in_order(rows, view) if view else rows, view).beside(extra)


def in_order(rows: Sequence[SnapshotRow], view: str) -> list[SnapshotRow]:
    """An auditor's are grouped by agent; never read come first for an archaeologist, else the newest."""
    newest = sorted(rows, key=_newest, reverse=True)
    ordered = sorted(newest, key=IN_ORDER[view], reverse=view != "archaeologist")
    return sorted(ordered, key=lambda row: row.agent.casefold()) if view == "auditor" else ordered


def listing(project_id: int, rows: Sequence[SnapshotRow], view: str) -> Listing:
    """The rows with the columns that a view shows."""
    if view == "minimalist":
        return Listing(("id", "summary"), [[row.id, row.summary] for row in rows])
    values = list_rows(project_id, rows)
    if view == "auditor":
        values = [[*each, row.source] for each, row in zip(values, rows, strict=True)]
        return Listing((*COLUMNS, "source"), values)
    return Listing(COLUMNS, values)


def _newest(row: SnapshotRow) -> tuple[datetime, int]:
    return row.created_at, row.id


def _newest_rows(project_id: int, count: int, condition: str = "") -> list[SnapshotRow]:
    return _read(f"d.project_id = %s {condition} ORDER BY d.created_at DESC, d.id DESC", project_id, count)


def _foremost(project_id: int, count: int) -> list[SnapshotRow]:
    """Those of the highest stored scores, then the newest without one."""
    scored = _read(
        "d.project_id = %s AND d.prediction_score IS NOT NULL ORDER BY d.prediction_score DESC, d.id DESC",
        project_id,
        count,
    )
    rest = count - len(scored)
    return [*scored, *(_newest_rows(project_id, rest, "AND d.prediction_score IS NULL") if rest else ())]


def _read(which: str, project_id: int, count: int) -> list[SnapshotRow]:
    statement = f"SELECT {SNAPSHOTS.selected(NAMES)} WHERE {which} LIMIT %s"
    return SNAPSHOTS.as_rows(sql.rows(statement, [project_id, count]), NAMES)


def load_snapshots(*, caller: Caller, view: str = "historian", limit: int = 1) -> Listing:
    """The snapshots that a view shows first; an auditor's by agent."""
    rows = load(caller.project_id, view, limit)
    answer = listing(caller.project_id, rows, view.strip().lower())
    note_accesses(caller, [row.id for row in rows], clock.now())
    give(caller, "load", [GivenItem("snapshot", str(row.id)) for row in rows], answer)
    return answer


def read_snapshot(*, caller: Caller, snapshot_id: int) -> SnapshotRow:
    """One snapshot, as it was before this access."""
    return _noted(caller, get_snapshot(caller.project_id, snapshot_id))


def read_reasons(*, caller: Caller, snapshot_id: int) -> SnapshotRow:
    """One snapshot without its content."""
    row = get_snapshot(caller.project_id, snapshot_id, REASONS)
    give(caller, "why", [GivenItem("snapshot", str(row.id))], partial(reasons_item, caller.project_id, row))
    return _noted(caller, row)


def note_opened(caller: Caller, names: Sequence[str]) -> None:
    """Count that the snapshots of these refs were opened."""
    note_accesses(caller, [row_id for name in names if (row_id := read_id(name))], clock.now())


def _noted(caller: Caller, row: SnapshotRow) -> SnapshotRow:
    note_accesses(caller, [row.id], clock.now())
    return row
