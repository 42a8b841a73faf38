"""Lists of memories: pages that walk an index, newest first, and counts that stop in time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core import sql
from memory.sql.decision_lists import Condition
from memory.sql.memory_rows import JOINS, LISTED, MemoryRow, as_rows, selected

Place = tuple[datetime, int]
"""Where a page ends: time and id of its last row."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How a list is found: `conditions` on `d`; with `tag_ids`, along what carries any of these tags."""

    conditions: Sequence[Condition]
    tag_ids: Sequence[int] = ()


def list_memories(walk: Walk, limit: int, after: Place | None) -> list[MemoryRow]:
    """One page behind a place, without contents."""
    found, values = _page(walk, limit, after)
    statement = f"""
        WITH page AS MATERIALIZED ({found})
        SELECT {selected(LISTED)} FROM page CROSS JOIN memory_memory d {JOINS} WHERE d.id = page.id
        ORDER BY d.updated_at DESC, d.id DESC LIMIT %s"""  # noqa: S608
    return as_rows(LISTED, sql.rows(statement, [*values, limit]))


def count_memories(walk: Walk, at_most: int) -> int:
    found, values = _page(walk, at_most, None, ordered=False)
    [(count,)] = sql.rows(f"SELECT count(*) FROM (SELECT id FROM ({found}) u LIMIT %s) c", [*values, at_most])  # noqa: S608
    return int(count)


def _page(walk: Walk, limit: int, after: Place | None, *, ordered: bool = True) -> tuple[str, list[Any]]:
    at, row = ("x", "x.memory_id") if walk.tag_ids else ("d", "d.id")
    conditions = list(walk.conditions)
    if after:
        moment, row_id = after
        conditions.append((f"({at}.updated_at, {row}) < (%s, %s)", [sql.stored_time(moment), row_id]))
    where = " AND ".join(text for text, _ in conditions)
    values = [value for _, said in conditions for value in said]
    order = f" ORDER BY {at}.updated_at DESC, {row} DESC" if ordered else ""
    if not walk.tag_ids:
        return f"SELECT d.id FROM memory_memory d WHERE {where}{order} LIMIT %s", [*values, limit]  # noqa: S608
    # CROSS JOIN keeps SQLite walking the tag's index; left to itself it reads every memory.
    arm = f"""
        SELECT id FROM (SELECT x.memory_id AS id FROM memory_memorytag x CROSS JOIN memory_memory d
        WHERE x.tag_id = %s AND d.id = x.memory_id AND {where}{order} LIMIT %s) arm"""  # noqa: S608
    arms = [[tag, *values, limit] for tag in walk.tag_ids]
    return " UNION ".join([arm] * len(arms)), [value for said in arms for value in said]
