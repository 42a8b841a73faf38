"""Tables: read and write the rows of a model as frozen dataclasses, with SQL that is built once.

A `Table` replaces Django's query sets where lists are long and writes are hot: one statement reads a page of
a list, and one inserts many rows. For other statements a noun writes its own SQL with `selected()`,
`as_rows()`, `columns` and `records()`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import cache, cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from django.db import models

from ctxhub.core.kit import sql
from ctxhub.core.kit.columns import (
    adapter_of,
    by_column,
    casefolded,
    copies_of,
    default_of,
    difference_of,
    links_of,
    read_position,
    read_words,
    reader_of,
)
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, read_id
from ctxhub.core.kit.listing import COUNTED_TO, total_of
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.kit.pages import Condition, Links, ListPlan, Page, Position, all_of, of_row, union_of

NOBODY = "system"
# The foreign key that reads as NOBODY if it is null.
AUTHOR = "agent"
# A statement takes 32,766 values at most on SQLite as it is built by default, and 65,535 on PostgreSQL.
VALUES_AT_ONCE = 30_000


@frozen(kw_only=True)
class BareRow:
    """A stored object, with the names of the rows it points to. `id` is 0 before it is stored."""

    id: int = 0


@frozen(kw_only=True)
class AuthoredRow(BareRow):
    agent: str = NOBODY
    agent_id: int | None = None


@frozen(kw_only=True)
class Row(AuthoredRow):
    created_at: datetime
    updated_at: datetime


RowT = TypeVar("RowT", bound=BareRow)


class Vocabulary(Protocol):
    """Looks up the ids of words, by the field that holds them: tags, scopes."""

    def word_id(self, field: str, name: str) -> int: ...


@frozen
class Derived(Generic[RowT]):
    """A column computed from the fields `of` a row. `value` is cheap, and makes no query."""

    of: Sequence[str]
    value: Callable[[RowT], Any]


@frozen
class Computed:
    """A field read by an SQL expression on the alias `d`. `read` converts the value; None: unchanged.

    `text` is a function if the expression depends on the database engine.
    """

    text: str | Callable[[], str]
    read: Callable[[Any], Any] | None = None


class Table(Generic[RowT]):
    """Maps the rows of `model` to instances of `row`.

    Each field of a row is a column of the model (`text`, `layer_id`), the name of the row a foreign key
    points to (`layer`), the names of a many-to-many field (`tags`), or an SQL expression from `computed`.
    `derived` are columns computed from a row; any other column gets its default. `shown`: for foreign keys
    that are shown by another column than `name`, that column.

    A link table may have copies of columns of the model, under the same names, so that its index can have
    the order of a list. The table keeps these copies up to date.
    """

    def __init__(
        self,
        model: type[ProjectRow],
        row: type[RowT],
        *,
        derived: Mapping[str, Derived[RowT]] | None = None,
        computed: Mapping[str, Computed] | None = None,
        shown: Mapping[str, str] | None = None,
    ) -> None:
        self.model, self.row = model, row
        self.derived, self.computed, self.shown = derived or {}, computed or {}, shown or {}

    # -- Reading -----------------------------------------------------------------------------------

    def read(self, project_id: int, ids: Sequence[int], names: Sequence[str] = ()) -> dict[int, RowT]:
        """Rows by their ids, in the order of `ids`.

        `names`: the fields to read, the others get their defaults; (): all.
        """
        return self.reading(project_id, ids, names).now() if ids else {}

    def reading(
        self, project_id: int, ids: Sequence[int], names: Sequence[str] = ()
    ) -> sql.Reading[dict[int, RowT]]:
        """What `read` reads."""
        names = self._with(names, ["id"])
        condition, values = sql.by_ids("d", project_id, ids)

        def in_order(found: Sequence[sql.Row]) -> dict[int, RowT]:
            rows = {row.id: row for row in self.as_rows(found, names)}
            return {row_id: rows[row_id] for row_id in ids if row_id in rows}

        statement = f"SELECT {self.selected(names)} WHERE {condition}"
        return sql.Reading(statement, values, len(names or self.fields), in_order)

    def read_named(
        self,
        project_id: int,
        names: Sequence[str],
        unknown: Callable[[int | str], NotFound],
        fields: Sequence[str] = (),
    ) -> dict[str, RowT | NotFound]:
        """Rows by their ids as refs have them, with these fields; else the error that `unknown` makes."""
        ids = {name: row_id for name in names if (row_id := read_id(name))}
        rows = self.read(project_id, list(dict.fromkeys(ids.values())), fields)
        return {name: rows.get(ids.get(name, 0)) or unknown(ids.get(name, name)) for name in names}

    def find(self, project_id: int, where: Condition, names: Sequence[str] = ()) -> list[RowT]:
        """The project's rows that match a condition on the alias `d`."""
        return self._find(all_of([("d.project_id = %s", [project_id]), where]), names)

    def page(
        self,
        project_id: int,
        plan: ListPlan,
        *,
        limit: int = 20,
        cursor: str | None = None,
        names: Sequence[str] = (),
    ) -> Page[RowT]:
        """One page of a list, and the total number of rows. Raises InvalidInput for a bad cursor."""
        limit = clean_limit(limit)
        position = partial(self._position, plan)
        order = [self._by_column[column] for column in plan.columns]
        after = read_position(order, cursor, plan.sort) if cursor else None
        if plan.is_empty:
            return Page([], has_more=False, total={"total": 0}, position=position)
        rows = self._list(project_id, plan, limit + 1, after, self._with(names, plan.columns))
        more = len(rows) > limit
        # If the first page holds all rows, their number is the total.
        is_complete = after is None and not more
        counted = plan.total if plan.total is not None else len(rows) if is_complete else None
        if counted is None:
            counted = self.count(project_id, plan, COUNTED_TO + 1)
        return Page(rows[:limit], has_more=more, total=total_of(counted), position=position)

    def count(self, project_id: int, plan: ListPlan, at_most: int) -> int:
        """How many rows a list has, counted up to `at_most`."""
        branches = plan.linked_ids(at_most) or self._branches(project_id, plan, at_most, None, ordered=False)
        if not branches:
            return 0
        found, values = union_of(branches)
        if len(branches) > 1:
            found, values = f"SELECT id FROM ({found}) u LIMIT %s", [*values, at_most]
        [(count,)] = sql.rows(f"SELECT count(*) FROM ({found}) c", values)
        return int(count)

    def selected(self, names: Sequence[str] = (), source: str = "") -> str:
        """`columns FROM source table d joins`, for custom statements; `as_rows` reads their result.

        `source`: what is read first, with the word that joins it: `page CROSS JOIN`.
        """
        return self._selected(tuple(names), source)

    def as_rows(self, found: Iterable[Sequence[Any]], names: Sequence[str] = ()) -> list[RowT]:
        names = names or self.fields
        readers = self._readers_of(tuple(names))
        rows = []
        for each in found:
            values = [*each]
            for place, read, keeps_null in readers:
                if values[place] is not None or not keeps_null:
                    values[place] = read(values[place])
            rows.append(self.row(**dict(zip(names, values, strict=True))))
        return rows

    # -- Writing -----------------------------------------------------------------------------------

    def insert(
        self, project_id: int, rows: Sequence[RowT], vocabulary: Vocabulary | None = None
    ) -> list[RowT]:
        """Insert rows with their links; returns them with their ids, in the same order.

        `vocabulary` has the ids of the linked words.
        """
        stored: list[RowT] = []
        for some in sql.chunks(rows, VALUES_AT_ONCE // len(self.columns)):
            found = sql.insert(self.name, self.columns, self.records(project_id, some), "RETURNING id")
            # Both engines assign ids in the order of VALUES, but return them in any order.
            ids = sorted(row_id for (row_id,) in found)
            stored += [replace(row, id=row_id) for row, row_id in zip(some, ids, strict=True)]
        for field in self.links:
            if any(getattr(row, field) for row in stored):
                assert vocabulary is not None
                self._insert_links(project_id, field, stored, vocabulary)
        return stored

    def update(self, project_id: int, old: RowT, new: RowT, vocabulary: Vocabulary | None = None) -> None:
        """Store the differences: columns, derived columns, links, and the copies in link tables.

        `vocabulary` has the ids of the linked words, if the links differ.
        """
        changes = self.differences(old, new)
        if changes:
            columns = ", ".join(f"{column} = %s" for column in changes)
            values = [self._stored(column, value) for column, value in changes.items()]
            sql.execute(f"UPDATE {self.name} SET {columns} WHERE id = %s", [*values, new.id])
        for field, links in self.links.items():
            if casefolded(getattr(old, field)) != casefolded(getattr(new, field)):
                assert vocabulary is not None
                sql.execute(f"DELETE FROM {links.table} WHERE {links.owner} = %s", [new.id])
                self._insert_links(project_id, field, [new], vocabulary)
            elif not changes.keys().isdisjoint(self.copies[field]):
                self._copy(links, self.copies[field], ("= %s", [new.id]))

    def derive_again(self, row: RowT) -> None:
        """Store the derived columns of a row, as after a change of what they are computed from."""
        if derived := self.derive(row):
            columns = ", ".join(f"{column} = %s" for column in derived)
            values = [self._stored(column, value) for column, value in derived.items()]
            sql.execute(f"UPDATE {self.name} SET {columns} WHERE id = %s", [*values, row.id])

    def keep_copies(self, owners: Condition) -> None:
        """Update the copies in the link tables for some rows; `owners` is a condition like `IN (...)`."""
        for field, links in self.links.items():
            if copies := self.copies[field]:
                self._copy(links, copies, owners)

    def differences(self, old: RowT, new: RowT) -> dict[str, Any]:
        """The columns in which two rows differ, with the values of the new one."""
        changes = {
            column: value for column, read, differ in self._plain if differ(value := read(new), read(old))
        }
        for column, derived in self.derived.items():
            if any(getattr(old, name) != getattr(new, name) for name in derived.of):
                changes[column] = derived.value(new)
        return changes

    def records(self, project_id: int, rows: Iterable[RowT]) -> list[list[Any]]:
        """The values of `columns` for each row, for a custom INSERT."""
        writers = self._writers
        return [[project_id, *(write(row) for write in writers)] for row in rows]

    def derive(self, row: RowT) -> dict[str, Any]:
        """The derived columns of a row."""
        return {column: derived.value(row) for column, derived in self.derived.items()}

    def value(self, row: RowT, column: str) -> Any:
        """The value of a column, which may be derived."""
        derived = self.derived.get(column)
        return derived.value(row) if derived else getattr(row, column)

    def row_of(self, instance: models.Model, old: RowT | None, saved: Collection[str] | None) -> RowT:
        """The row that saving a model instance stores: the old row with its `saved` fields (None: all)."""
        values: dict[str, Any] = {}
        for name in self.fields:
            if name in self.links or name in self.computed:
                continue
            field = self._named.get(name) or self._by_column[name]
            if old and saved is not None and not {field.name, field.attname} & {*saved}:
                continue
            if name not in self._named:
                values[name] = getattr(instance, name)
            elif old is None or getattr(old, field.attname) != getattr(instance, field.attname):
                values[name] = self._name_of(name, getattr(instance, field.name))
        return replace(old, **values) if old else self.row(**{**values, "id": instance.pk or 0})

    # -- Derived from the model --------------------------------------------------------------------

    @cached_property
    def name(self) -> str:
        return self.model._meta.db_table

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self.row))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that an insert writes, in the order of `records`."""
        return ("project_id", *self._written)

    @cached_property
    def links(self) -> dict[str, Links]:
        """The link tables, by field of the row."""
        return {name: links_of(field) for name, field in self.many.items()}

    @cached_property
    def many(self) -> dict[str, Any]:
        """The many-to-many fields that a row has."""
        return {field.name: field for field in self.model._meta.many_to_many if field.name in self.fields}

    @cached_property
    def copies(self) -> dict[str, list[str]]:
        """The columns of the model that link tables copy, by field of the row."""
        return {name: copies_of(field) for name, field in self.many.items()}

    @cached_property
    def _by_column(self) -> dict[str, Any]:
        return by_column(self.model)

    @cached_property
    def _named(self) -> dict[str, Any]:
        """The foreign keys whose names are fields of the row."""
        return {
            field.name: field
            for field in self.model._meta.concrete_fields
            if field.is_relation and field.name in self.fields
        }

    @cached_property
    def _written(self) -> dict[str, Callable[[RowT], Any]]:
        """Functions that read the value of each column from a row, except `id` and `project_id`."""
        own = {*self.fields} - {*self.computed}
        found: dict[str, Callable[[RowT], Any]] = {}
        for column, field in self._by_column.items():
            if column in self.derived:
                found[column] = self.derived[column].value
            else:
                found[column] = attrgetter(column) if column in own else default_of(field)
        return {column: read for column, read in found.items() if column not in ("id", "project_id")}

    @cached_property
    def _plain(self) -> list[tuple[str, Callable[[RowT], Any], Callable[[Any, Any], bool]]]:
        """The columns that are fields of the row, with functions that read and compare them."""
        own = {*self.fields} - {*self.derived} - {*self.computed}
        return [
            (column, read, difference_of(self._by_column[column]))
            for column, read in self._written.items()
            if column in own
        ]

    @cached_property
    def _writers(self) -> list[Callable[[RowT], Any]]:
        return [self._writer(column, read) for column, read in self._written.items()]

    def _writer(self, column: str, read: Callable[[RowT], Any]) -> Callable[[RowT], Any]:
        return (lambda row: self._stored(column, read(row))) if self._adapters[column] else read

    @cached_property
    def _adapters(self) -> dict[str, Callable[[Any], Any] | None]:
        return {column: adapter_of(field) for column, field in self._by_column.items()}

    def _stored(self, column: str, value: Any) -> Any:
        adapt = self._adapters[column]
        return adapt(value) if adapt and value is not None else value

    @cached_property
    def _readers(self) -> dict[str, Callable[[Any], Any]]:
        found = {name: reader_of(field) for name, field in self._by_column.items() if name in self.fields}
        found |= {name: computed.read for name, computed in self.computed.items()}
        readers = {name: read for name, read in found.items() if read}
        return {**readers, **dict.fromkeys(self.links, read_words)}

    @cache  # noqa: B019  # A table lives as long as the process.
    def _readers_of(self, names: tuple[str, ...]) -> list[tuple[int, Callable[[Any], Any], bool]]:
        """Which of these values are converted, by their places, and whether null is kept."""
        return [
            (place, self._readers[name], name in self._by_column)
            for place, name in enumerate(names)
            if name in self._readers
        ]

    @cache  # noqa: B019
    def _selected(self, names: tuple[str, ...], source: str) -> str:
        columns = ", ".join(self._expression(name) for name in names or self.fields)
        return f"{columns} FROM {f'{source} {self.name}'.lstrip()} d {self._joins(names)}"

    def _expression(self, name: str) -> str:
        if name in self.computed:
            text = self.computed[name].text
            return text if isinstance(text, str) else text()
        if links := self.links.get(name):
            words = self.many[name].related_model._meta.db_table
            return (
                f"(SELECT {sql.json_list('w.name')} FROM {links.table} x JOIN {words} w"
                f" ON w.id = x.{links.column} WHERE x.{links.owner} = d.id)"
            )
        if name in self._named:
            column = f"{name}.{self.shown.get(name, 'name')}"
            return f"coalesce({column}, '{NOBODY}')" if name == AUTHOR else column
        return f"d.{name}"

    def _joins(self, names: tuple[str, ...]) -> str:
        return " ".join(
            f"{'LEFT ' if field.null else ''}JOIN {field.related_model._meta.db_table} {name}"
            f" ON {name}.id = d.{field.attname}"
            for name, field in self._named.items()
            if name in (names or self.fields)
        )

    def _name_of(self, name: str, pointed_to: Any) -> str | None:
        if pointed_to:
            return str(getattr(pointed_to, self.shown.get(name, "name")))
        return NOBODY if name == AUTHOR else None

    def _position(self, plan: ListPlan, row: RowT) -> Position:
        """The values of a row that a cursor contains."""
        values = [self.value(row, column) for column in plan.columns]
        return (plan.sort, *values) if plan.sort else tuple(values)

    def _with(self, names: Sequence[str], columns: Iterable[str]) -> tuple[str, ...]:
        """The fields to read for `names` and for the values of `columns`; (): all."""
        needed = (self.derived[column].of if column in self.derived else [column] for column in columns)
        return tuple(dict.fromkeys([*names, *chain(*needed)])) if names else ()

    # -- Statements --------------------------------------------------------------------------------

    def _find(self, where: Condition, names: Sequence[str]) -> list[RowT]:
        condition, values = where
        return self.as_rows(sql.rows(f"SELECT {self.selected(names)} WHERE {condition}", values), names)

    def _insert_links(
        self, project_id: int, field: str, rows: Iterable[RowT], vocabulary: Vocabulary
    ) -> None:
        links, copies = self.links[field], self.copies[field]
        records = [
            (
                *(project_id, row.id, vocabulary.word_id(field, name)),
                *(self._stored(column, self.value(row, column)) for column in copies),
            )
            for row in rows
            for name in getattr(row, field)
        ]
        columns = ("project_id", links.owner, links.column, *copies)
        for some in sql.chunks(records, VALUES_AT_ONCE // len(columns)):
            sql.insert(links.table, columns, some)

    def _copy(self, links: Links, copies: Sequence[str], owners: Condition) -> None:
        where, values = owners
        changes = ", ".join(
            f"{column} = (SELECT d.{column} FROM {self.name} d WHERE d.id = {links.table}.{links.owner})"
            for column in copies
        )
        sql.execute(f"UPDATE {links.table} SET {changes} WHERE {links.owner} {where}", values)

    def _list(
        self, project_id: int, plan: ListPlan, limit: int, after: Position | None, names: tuple[str, ...]
    ) -> list[RowT]:
        branches = self._branches(project_id, plan, limit, after)
        if not branches:
            return []
        found, values = union_of(branches)
        # MATERIALIZED: with statistics from an empty table, PostgreSQL ran the page's query again for every
        # row of the table.
        statement = f"""
            WITH page AS MATERIALIZED ({found})
            SELECT {self.selected(names, "page CROSS JOIN")}
            WHERE d.id = page.id ORDER BY {plan.order_by(of_row)}"""
        if len(branches) > 1:
            statement, values = f"{statement} LIMIT %s", [*values, limit]
        return self.as_rows(sql.rows(statement, values), names)

    def _branches(
        self, project_id: int, plan: ListPlan, limit: int, after: Position | None, *, ordered: bool = True
    ) -> list[Condition]:
        """The queries for the ids of a page: one for each range and, with links, for each word."""
        source, name, words = plan.source(self.name)
        own = plan.of_project(project_id)
        order = f" ORDER BY {plan.order_by(name)}" if ordered else ""
        branches: list[Condition] = []
        for word in words:
            for behind in plan.behind(name, after):
                where, values = all_of([word, own, *plan.conditions, behind])
                text = f"SELECT {name('id')} AS id FROM {source} WHERE {where}{order} LIMIT %s"
                branches.append((text, [*values, limit]))
        return branches
