"""SQL of refusals: adds to the counts, and deletes old ones."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from ctxhub.core.kit import sql

AT_ONCE = 1_000
_KEY = ("project_id", "ref", "folded", "code", "minute")


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


def add_refusals(project_id: int, counts: Iterable[tuple[Key, Counted]]) -> None:
    """Add to the counts, in the order of the keys: two processes that add at once wait for each other."""
    for some in sql.chunks(sorted(counts), AT_ONCE):
        sql.insert(
            "core_refusal",
            (*_KEY, "name", "count", "first_at", "last_at", "note"),
            [
                (
                    *(project_id, key.ref, key.folded, key.code, sql.stored_time(key.minute)),
                    *(
                        new.name,
                        new.times,
                        sql.stored_time(new.first_at),
                        sql.stored_time(new.last_at),
                        new.note,
                    ),
                )
                for key, new in some
            ],
            f"ON CONFLICT ({', '.join(_KEY)}) DO UPDATE SET count = core_refusal.count + excluded.count,"
            " last_at = excluded.last_at, note = excluded.note",
        )


def count_rows_by_agent(project_id: int, since: datetime) -> dict[str, int]:
    """How many rows each agent has since a time, by case-folded name."""
    statement = (
        "SELECT folded, count(*) FROM core_refusal WHERE project_id = %s AND minute >= %s GROUP BY folded"
    )
    return dict(sql.rows(statement, [project_id, sql.stored_time(since)]))


def delete_refusals(project_id: int, before: datetime, at_most: int) -> int:
    """Delete the oldest refusals from before a time; returns how many."""
    statement = (
        "DELETE FROM core_refusal WHERE id IN (SELECT id FROM core_refusal"
        " WHERE project_id = %s AND minute < %s ORDER BY minute, id LIMIT %s) RETURNING id"
    )
    return len(sql.rows(statement, [project_id, sql.stored_time(before), at_most]))
