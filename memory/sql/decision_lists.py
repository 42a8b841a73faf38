"""Lists of decisions: pages that walk an index in the order asked for, and counts that stop in time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from ctxhub.core import sql
from ctxhub.core.listing import COUNTED_TO
from memory.sql.decision_rows import DecisionRow, as_rows, selected

Condition = tuple[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Links:
    """A table of words on decisions."""

    table: str
    column: str


TAG_LINKS = Links("memory_decisiontag", "tag_id")
SCOPE_LINKS = Links("memory_decisionscope", "scope_id")


@dataclass(frozen=True, slots=True)
class Walk:
    """How a list is found: `conditions` on `d`, and the links (tags or scopes) that lead there fastest.

    Without links the decisions themselves are walked in the order of `sort`; with them each link's own index
    is, and only as far as the page needs. `ids`, where there are any, are all that is looked at.
    """

    conditions: Sequence[Condition]
    sort: str = "updated_at"
    descending: bool = True
    links: Links | None = None
    link_ids: Sequence[int] = ()
    ids: Sequence[int] | None = None

    @property
    def where(self) -> str:
        return " AND ".join(text for text, _ in self.conditions)

    @property
    def values(self) -> list[Any]:
        return [value for _, values in self.conditions for value in values]


def list_decisions(
    walk: Walk, fields: Sequence[str], limit: int, after: tuple[Any, int] | None
) -> list[DecisionRow]:
    """One page in the walk's order, behind `after` (sort value, id); of each row these fields."""
    found, values = _page(walk, limit, after)
    select, joined = selected(fields)
    direction = "DESC" if walk.descending else "ASC"
    # MATERIALIZED: with statistics taken while a table was empty, PostgreSQL looked for the page again at
    # every row there is.
    statement = f"""
        WITH page AS MATERIALIZED ({found})
        SELECT {select} FROM page CROSS JOIN memory_decision d {joined} WHERE d.id = page.id
        ORDER BY d.{walk.sort} {direction}, d.id {direction} LIMIT %s"""  # noqa: S608
    return as_rows(fields, sql.rows(statement, [*values, limit]))


def count_decisions(walk: Walk, at_most: int) -> int:
    found, values = _page(walk, at_most, None, ordered=False)
    [(count,)] = sql.rows(f"SELECT count(*) FROM (SELECT id FROM ({found}) u LIMIT %s) c", [*values, at_most])  # noqa: S608
    return int(count)


def _page(
    walk: Walk, limit: int, after: tuple[Any, int] | None, *, ordered: bool = True
) -> tuple[str, list[Any]]:
    direction, beyond = ("DESC", "<") if walk.descending else ("ASC", ">")
    if not walk.links:
        place = f" AND (d.{walk.sort}, d.id) {beyond} (%s, %s)" if after else ""
        order = f" ORDER BY d.{walk.sort} {direction}, d.id {direction}" if ordered else ""
        rows, given = _rows(walk)
        statement = f"SELECT d.id FROM {rows} {walk.where}{place}{order} LIMIT %s"  # noqa: S608
        return statement, [*given, *walk.values, *(after or ()), limit]
    place = f" AND (x.updated_at, x.decision_id) {beyond} (%s, %s)" if after else ""
    order = f" ORDER BY x.updated_at {direction}, x.decision_id {direction}" if ordered else ""
    # CROSS JOIN keeps SQLite walking the link's index; left to itself it reads every decision.
    arm = f"""
        SELECT id FROM (SELECT x.decision_id AS id FROM {walk.links.table} x CROSS JOIN memory_decision d
        WHERE x.{walk.links.column} = %s AND d.id = x.decision_id AND {walk.where}{place}{order}
        LIMIT %s) arm"""  # noqa: S608
    values = [[link, *walk.values, *(after or ()), limit] for link in walk.link_ids]
    return " UNION ".join([arm] * len(values)), [value for arm_values in values for value in arm_values]


def _rows(walk: Walk) -> tuple[str, list[Any]]:
    """The decisions that are walked, and of whom there are ids only those."""
    if walk.ids is None:
        return "memory_decision d WHERE", []
    if connection.vendor == "postgresql":
        among, values = sql.among("d.id", walk.ids)
        return f"memory_decision d WHERE {among} AND", values
    # One by one: left to itself SQLite walks another index and looks for each row among the ids.
    return "json_each(%s) i CROSS JOIN memory_decision d WHERE d.id = i.value AND", [
        json.dumps(list(walk.ids))
    ]


def rarest_first(links: Links, ids: Sequence[int]) -> list[int]:
    """The words by the number of their decisions, of which it counts no more than it takes to choose."""
    counted = f"SELECT 1 FROM {links.table} x WHERE x.{links.column} = %s LIMIT {COUNTED_TO}"  # noqa: S608
    arms = " UNION ALL ".join([f"SELECT %s, (SELECT count(*) FROM ({counted}) c)"] * len(ids))  # noqa: S608
    counts = sql.rows(arms, [value for word in ids for value in (word, word)])
    return [word for word, _ in sorted(counts, key=lambda row: int(row[1]))]
