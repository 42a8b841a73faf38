"""SQL of refusals: adds to the counts, and deletes old ones."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.counts import Counts, How

REFUSALS = Counts(
    "core_refusal",
    ("ref", "folded", "code", "minute"),
    {
        "name": How.KEPT,
        "count": How.ADDED,
        "first_at": How.KEPT,
        **dict.fromkeys(("last_at", "note", "session"), How.LATEST),
    },
)


class Key(NamedTuple):
    """What refusals are counted for, within a project."""

    ref: str
    folded: str
    code: str
    minute: datetime


class Counted(NamedTuple):
    name: str
    times: int
    first_at: datetime
    last_at: datetime
    note: str
    session: str = ""


def add_refusals(project_id: int, counts: Iterable[tuple[Key, Counted]]) -> None:
    REFUSALS.add(project_id, (_record(key, new) for key, new in counts))


def count_rows_by_agent(project_id: int, since: datetime) -> dict[str, int]:
    """How many rows each agent has since a time, by case-folded name."""
    statement = (
        "SELECT folded, count(*) FROM core_refusal WHERE project_id = %s AND minute >= %s GROUP BY folded"
    )
    return dict(sql.rows(statement, [project_id, sql.stored_time(since)]))


def delete_refusals(project_id: int, before: datetime, at_most: int) -> int:
    """Delete the oldest refusals from before a time; returns how many."""
    return REFUSALS.delete_oldest(project_id, "minute", before, at_most)


def _record(key: Key, new: Counted) -> tuple[Any, ...]:
    return (
        *(key.ref, key.folded, key.code, sql.stored_time(key.minute)),
        *(new.name, new.times, sql.stored_time(new.first_at), sql.stored_time(new.last_at), new.note),
        new.session,
    )
