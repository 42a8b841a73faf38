"""Reads snapshots in the order of a view."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.selectors.search import search
from memory.snapshots.inputs import clean_view
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow
from memory.snapshots.selectors.snapshots import COLUMNS, list_rows

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
