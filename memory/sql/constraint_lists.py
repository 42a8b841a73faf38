"""Lists of constraints: pages by rank, newest first, that walk an index in this order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core import sql
from ctxhub.core.models.priority import Priority
from memory.models.constraint import rank_of
from memory.sql.constraint_rows import JOINS, ConstraintRow, as_rows, selected
from memory.sql.decision_lists import Condition, Links

TAG_LINKS = Links("memory_constrainttag", "tag_id")
SCOPE_LINKS = Links("memory_constraintscope", "scope_id")

Place = tuple[str, datetime, int]
"""Where a page ends: rank, time and id of its last row."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of one priority, of one category (its case-folded name), of both; else all there are."""

    priority: Priority | None = None
    category: str | None = None

    def stretches(self, after: Place | None) -> list[Condition]:
        """What is left behind a place, as stretches of which each is one walk of an index.

        Newest first within a rank: no single comparison says what comes behind a row.
        """
        start = after[0] if after else ""
        if self.category is not None:
            priorities = [self.priority] if self.priority else sorted(Priority, reverse=True)
            ranks = [rank for priority in priorities if (rank := rank_of(priority, self.category)) >= start]
            return [_rest_of(after) if after and rank == start else _rank(rank) for rank in ranks]
        first, end = _bounds(self.priority) if self.priority else ("", "")
        if after is None or start < first:
            return [_between(">=", first, end)]
        return [] if end and start >= end else [_rest_of(after), _between(">", start, end)]


@dataclass(frozen=True, slots=True)
class Walk:
    """How a list is found: `conditions` on `d`, its ranks, and the links that lead there fastest."""

    conditions: Sequence[Condition]
    ranks: Ranks
    links: Links | None = None
    link_ids: Sequence[int] = ()


def list_constraints(walk: Walk, limit: int, after: Place | None) -> list[ConstraintRow]:
    found, values = _page(walk, limit, after)
    if not found:
        return []
    statement = f"""
        WITH page AS MATERIALIZED ({found})
        SELECT {selected()} FROM page CROSS JOIN memory_constraint d {JOINS} WHERE d.id = page.id
        ORDER BY d.rank, d.created_at DESC, d.id DESC LIMIT %s"""  # noqa: S608
    return as_rows(sql.rows(statement, [*values, limit]))


def count_constraints(walk: Walk, at_most: int) -> int:
    found, values = _page(walk, at_most, None, ordered=False)
    [(count,)] = sql.rows(f"SELECT count(*) FROM (SELECT id FROM ({found}) u LIMIT %s) c", [*values, at_most])  # noqa: S608
    return int(count)


# -- Pieces ----------------------------------------------------------------------------------------


def _page(walk: Walk, limit: int, after: Place | None, *, ordered: bool = True) -> tuple[str, list[Any]]:
    """The ids of a page, as the union of an arm for each stretch and, where links lead, each of them."""
    arms, values = [], []
    for link in walk.link_ids if walk.links else (None,):
        for stretch in walk.ranks.stretches(after):
            arm, arm_values = _arm(walk, link, stretch, ordered)
            arms.append(f"SELECT id FROM ({arm} LIMIT %s) arm")  # noqa: S608
            values += [*arm_values, limit]
    return " UNION ".join(arms), values


def _arm(walk: Walk, link: int | None, stretch: Condition, ordered: bool) -> tuple[str, list[Any]]:
    at, row = ("x", "x.constraint_id") if walk.links else ("d", "d.id")
    conditions = [*walk.conditions, (stretch[0].format(at=at, row=row), stretch[1])]
    source = "memory_constraint d"
    if walk.links:
        # CROSS JOIN keeps SQLite walking the link's index; left to itself it reads every constraint.
        source = f"{walk.links.table} x CROSS JOIN {source}"
        conditions = [(f"x.{walk.links.column} = %s AND d.id = x.constraint_id", [link]), *conditions]
    where = " AND ".join(text for text, _ in conditions if text)
    order = f" ORDER BY {at}.rank, {at}.created_at DESC, {row} DESC" if ordered else ""
    statement = f"SELECT {row} AS id FROM {source} WHERE {where}{order}"  # noqa: S608
    return statement, [value for _, values in conditions for value in values]


def _rank(rank: str) -> Condition:
    return "{at}.rank = %s", [rank]


def _rest_of(after: Place) -> Condition:
    """What is older in the rank where a page ended."""
    rank, created_at, row_id = after
    return (
        "{at}.rank = %s AND ({at}.created_at, {row}) < (%s, %s)",
        [rank, sql.stored_time(created_at), row_id],
    )


def _between(comparison: str, first: str, end: str) -> Condition:
    parts = [(f"{{at}}.rank {comparison} %s", first), ("{at}.rank < %s", end)]
    said = [(text, value) for text, value in parts if value]
    return " AND ".join(text for text, _ in said), [value for _, value in said]


def _bounds(priority: Priority) -> tuple[str, str]:
    """Where the ranks of a priority begin, and where they have ended."""
    return rank_of(priority, ""), rank_of(priority - 1, "")
