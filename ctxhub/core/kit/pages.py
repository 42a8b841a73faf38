"""Keyset pagination: the filters, order and cursor position of a list, as SQL."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Generic, TypeVar

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import COUNTED_TO, make_cursor
from ctxhub.core.kit.ordering import Columns, Ordering, columns_in

RowT = TypeVar("RowT")
Condition = tuple[str, Sequence[Any]]
"""An SQL condition on the table's alias `d`, and the values of its placeholders."""
Position = tuple[Any, ...]
"""The values of the ordering columns in the last row of a page."""

# A filter by more words than this does not get a query for each word.
MOST_BRANCHES = 10
# Up to so many rows are read by id; of more, any index scan soon finds a page.
FEW = 2_000
# The rows of many words are read by id if they are no more than this.
FEW_LINKED = 200


@frozen
class Links:
    """A link table: `column` holds the id of a word, `owner` the id of the row that has it."""

    table: str
    column: str
    owner: str

    def to_any(self, ids: Sequence[int], *, negated: bool = False) -> Condition:
        """The condition that the row is linked to one of these words."""
        among, values = sql.among(f"y.{self.column}", ids)
        exists = "NOT EXISTS" if negated else "EXISTS"
        return f"{exists} (SELECT 1 FROM {self.table} y WHERE y.{self.owner} = d.id AND {among})", values

    def of_link(self, column: str) -> str:
        """The link table's copy of an ordering column."""
        return f"x.{self.owner if column == 'id' else column}"

    def rarest_first(self, groups: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        """Groups of words sorted by how many rows they have, counted up to 1,000; large groups last."""
        counts = self._counted(sorted({word for words in groups if _are_few(words) for word in words}))

        def rows_of(words: Sequence[int]) -> tuple[bool, int]:
            return not _are_few(words), sum(counts.get(word, 0) for word in words)

        return sorted(groups, key=rows_of)

    def _counted(self, ids: Sequence[int]) -> dict[int, int]:
        counted = f"SELECT 1 FROM {self.table} x WHERE x.{self.column} = %s LIMIT {COUNTED_TO}"
        counts = " UNION ALL ".join([f"SELECT %s, (SELECT count(*) FROM ({counted}) c)"] * len(ids))
        found = sql.rows(counts, [value for word in ids for value in (word, word)]) if ids else []
        return {word: int(count) for word, count in found}

    def few_owners(self, ids: Sequence[int]) -> list[int] | None:
        """The ids of the rows with one of these words; None if they are more than FEW_LINKED."""
        among, values = sql.among(f"y.{self.column}", ids)
        found = sql.rows(
            f"SELECT DISTINCT y.{self.owner} FROM {self.table} y WHERE {among} LIMIT %s",
            [*values, FEW_LINKED + 1],
        )
        return [row_id for (row_id,) in found] if len(found) <= FEW_LINKED else None


def of_row(column: str) -> str:
    """The table's own ordering column."""
    return f"d.{column}"


Filter = tuple[Links, Sequence[int]]
"""Keeps the rows that are linked to one of these words."""


def _are_few(words: Sequence[int]) -> bool:
    return len(words) <= MOST_BRANCHES


def link_filters(
    tags: Links, groups: Sequence[Sequence[int]], scopes: Links, scope_ids: Sequence[int], *, match_all: bool
) -> list[Filter]:
    """The filters by tags and scopes; the first is the best one to read a page through.

    `groups`: the tags that each entry of the filter finds. `match_all`: rows have one of each group.
    """
    if match_all and len(groups) > 1:
        filters: list[Filter] = [(tags, group) for group in tags.rarest_first(groups)]
    else:
        filters = any_of(tags, groups)
    return [*filters, (scopes, scope_ids)] if scope_ids else filters


def any_of(links: Links, groups: Sequence[Sequence[int]]) -> list[Filter]:
    """The filter by any of the words; none if there are no words."""
    ids = list(dict.fromkeys(word for group in groups for word in group))
    return [(links, ids)] if ids else []


def lead(filters: Sequence[Filter]) -> bool:
    """Whether a list is best read through its first filter: one index scan for each of a few words."""
    return bool(filters) and _are_few(filters[0][1])


def few_linked(filters: Sequence[Filter]) -> list[int] | None:
    """The ids of the rows that pass the first filter, if it has many words and they have few rows."""
    if not filters or lead(filters):
        return None
    links, ids = filters[0]
    return links.few_owners(ids)


@frozen
class Range:
    """A range of the first ordering column: from `start` (inclusive) to `end` (exclusive), or only `start`.

    Both are values as the database stores them.
    """

    start: Any = None
    end: Any = None
    is_one: bool = False

    def holds(self, value: Any) -> bool:
        if self.is_one:
            return bool(value == self.start)
        return not self.is_after(value) and not self.is_before(value)

    def is_before(self, value: Any) -> bool:
        """Whether the range ends before a value."""
        return bool(value > self.start) if self.is_one else self.end is not None and value >= self.end

    def is_after(self, value: Any) -> bool:
        """Whether the range begins after a value."""
        return self.start is not None and value < self.start

    def on(self, column: str, above: Any = None) -> Condition:
        """The condition that the column is in the range and, with `above`, greater than it."""
        if self.is_one:
            return f"{column} = %s", [self.start]
        first = (f"{column} > %s", [above]) if above is not None else (f"{column} >= %s", [self.start])
        both = (first, (f"{column} < %s", [self.end]))
        return all_of([(text, values) for text, values in both if values[0] is not None])


ALL = Range()


def in_all(*found: Sequence[int] | None) -> list[int] | None:
    """The ids that all of these have, in the order of the first; None if none of them limits the list."""
    limits = [ids for ids in found if ids is not None]
    if not limits:
        return None
    kept = [frozenset(ids) for ids in limits[1:]]
    return [row_id for row_id in limits[0] if all(row_id in ids for ids in kept)]


@frozen
class ListPlan:
    """How to read a list: the `conditions` on its rows, and its `order`, which needs a matching index.

    With `links` the rows are read through each word of `link_ids`: the link table has copies of the ordering
    columns. `ids`: only these rows. `sort`: the name of the order, if the caller can choose it. `ranges`
    limit the first column of an ascending order. `total`: the number of rows, if known. `is_empty`: a filter
    names something that does not exist, so there are no rows. `leads`: use an index that begins with the
    project; if False, SQLite, which has no statistics, is kept from using it.
    """

    conditions: Sequence[Condition] = ()
    order: Sequence[str] = ("-updated_at", "-id")
    links: Links | None = None
    link_ids: Sequence[int] = ()
    ids: Sequence[int] | None = None
    ranges: Sequence[Range] = (ALL,)
    sort: str = ""
    total: int | None = None
    is_empty: bool = False
    leads: bool = True

    def __post_init__(self) -> None:
        if self.order[0].startswith("-") and tuple(self.ranges) != (ALL,):
            raise ValueError(f"Ranges narrow an ascending order, not {self.order[0]!r}.")

    @classmethod
    def along(cls, filters: Sequence[Filter], conditions: Sequence[Condition], **how: Any) -> "ListPlan":
        """A list of rows with certain words, read through the first filter if that has few words."""
        leads = lead(filters)
        links, link_ids = filters[0] if leads else (None, ())
        linked = [of.to_any(ids) for of, ids in filters[leads:]]
        return cls([*conditions, *linked], links=links, link_ids=link_ids, **how)

    def ordered(self, order: Sequence[str], sort: str) -> "ListPlan":
        """The same rows in the order of these columns, which `sort` names; in its own if there are none.

        An order by the columns of its own one, in other directions, goes along the same links.
        """
        if not order or list(order) == list(self.order):
            return self
        plan, conditions = self, list(self.conditions)
        if tuple(self.ranges) != (ALL,):
            conditions.append(any_range(self.ranges, of_row(self.columns[0])))
            plan = replace(plan, ranges=(ALL,))
        if self.links and {name.removeprefix("-") for name in order} != {*self.columns}:
            conditions.append(self.links.to_any(self.link_ids))
            plan = replace(plan, links=None, link_ids=())
        return replace(plan, conditions=conditions, order=order, sort=sort)

    def source(self, table: str) -> tuple[str, Callable[[str], str], list[Condition]]:
        """What rows are found in, how it names the order's columns, and a condition for each branch."""
        if self.ids is not None and connection.vendor == "sqlite":
            # One by one: left to itself SQLite walks another index and looks for each row among the ids.
            ids = json.dumps(list(self.ids))
            return f"json_each(%s) i CROSS JOIN {table} d", of_row, [("d.id = i.value", [ids])]
        if self.ids is not None:
            return f"{table} d", of_row, [sql.among("d.id", self.ids)] if self.ids else []
        if self.links is None:
            return f"{table} d", of_row, [("", [])]
        is_word = f"x.{self.links.column} = %s AND d.id = x.{self.links.owner}"
        # CROSS JOIN makes SQLite scan the link table's index; without it SQLite reads every row.
        source = f"{self.links.table} x CROSS JOIN {table} d"
        return source, self.links.of_link, [(is_word, [word]) for word in self.link_ids]

    def linked_ids(self, at_most: int) -> list[Condition]:
        """Queries for the ids with each word, from the links alone; none if the list has other conditions."""
        if self.links is None or self.conditions or self.ids is not None or tuple(self.ranges) != (ALL,):
            return []
        of = self.links
        text = f"SELECT x.{of.owner} AS id FROM {of.table} x WHERE x.{of.column} = %s LIMIT %s"
        return [(text, [word, at_most]) for word in self.link_ids]

    def of_project(self, project_id: int) -> Condition:
        plus = "" if self.leads or connection.vendor == "postgresql" else "+"
        return f"{plus}d.project_id = %s", [project_id]

    @property
    def columns(self) -> list[str]:
        return [name.removeprefix("-") for name in self.order]

    def order_by(self, name: Callable[[str], str]) -> str:
        return ", ".join(
            f"{name(column.removeprefix('-'))}{' DESC' if column.startswith('-') else ''}"
            for column in self.order
        )

    def behind(self, name: Callable[[str], str], after: Position | None) -> list[Condition]:
        """Conditions for the rows after a position; each needs one index scan."""
        first = name(self.columns[0])
        found: list[Condition] = []
        for values in self.ranges:
            if after is None or values.is_after(after[0]):
                found.append(values.on(first))
            elif values == ALL:
                found += self._rest(name, after, self._parts(self.order))
            elif values.holds(after[0]):
                *rest, _ = self._rest(name, after, [self.order[:1], *self._parts(self.order[1:])])
                found += rest if values.is_one else [*rest, values.on(first, above=after[0])]
        return found

    @staticmethod
    def _parts(order: Sequence[str]) -> list[Sequence[str]]:
        """The consecutive columns with the same direction: each group is one comparison."""
        return [list(part) for _, part in groupby(order, key=lambda column: column.startswith("-"))]

    def _rest(
        self, name: Callable[[str], str], after: Position, parts: Iterable[Sequence[str]]
    ) -> list[Condition]:
        """Conditions for the rows after a position, one for each part of the order, the last part first."""
        found: list[Condition] = []
        equal: list[Condition] = []
        rest = list(after)
        for part in parts:
            is_down = part[0].startswith("-")
            names = [name(column.removeprefix("-")) for column in part]
            values, rest = rest[: len(names)], rest[len(names) :]
            comparison = f"{_tuple(names)} {'<' if is_down else '>'} {_tuple(['%s'] * len(names))}"
            found.append(all_of([*equal, (comparison, values)]))
            equal += [(f"{column} = %s", [value]) for column, value in zip(names, values, strict=True)]
        return found[::-1]


def in_order(plan: ListPlan, ordering: Ordering, fields: Columns) -> ListPlan:
    """The plan in the order that a caller asks for. Raises InvalidInput for fields that are not there."""
    return plan.ordered(columns_in(ordering, fields), ",".join(ordering or ()))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """The conjunction of conditions; those without text are skipped."""
    values = [value for _, some in conditions for value in some]
    return " AND ".join(text for text, _ in conditions if text), values


def any_range(ranges: Sequence[Range], column: str) -> Condition:
    """The condition that a column is in one of these ranges."""
    found = [values.on(column) for values in ranges]
    return f"({' OR '.join(text for text, _ in found)})", [value for _, some in found for value in some]


def union_of(branches: Sequence[Condition]) -> Condition:
    """The UNION of these queries of ids."""
    if len(branches) == 1:
        return branches[0]
    text = " UNION ".join(f"SELECT id FROM ({text}) branch" for text, _ in branches)
    return text, [value for _, values in branches for value in values]


def _tuple(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


@frozen
class Page(Generic[RowT]):
    """One page of a list. `total` counts to 1,000; `position(row)`: the cursor position after a row."""

    rows: Sequence[RowT]
    has_more: bool
    total: Mapping[str, Any]
    position: Callable[[RowT], Position]

    def cursor_after(self, count: int) -> str:
        """The cursor that continues after the first `count` rows."""
        return make_cursor(*self.position(self.rows[count - 1]))

    @property
    def next(self) -> str | None:
        return self.cursor_after(len(self.rows)) if self.has_more else None
