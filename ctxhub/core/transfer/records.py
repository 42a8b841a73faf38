"""Reads objects as the records that an export has of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Model

from ctxhub.core.kit import sql
from ctxhub.core.kit.columns import links_of
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Agent, Category, Layer, Project, Scope, Tag
from ctxhub.core.transfer.columns import writer_of
from ctxhub.core.transfer.declaration import Exported, Part, Rows, Values, exported_kind, exported_model
from ctxhub.core.transfer.links import Shift, links_in, read_ref, replace_in, replace_links, texts_in
from ctxhub.core.transfer.uuids import Object, Uuids

WORDS: tuple[type[Model], ...] = (Agent, Category, Layer, Scope, Tag)
Shifts = Mapping[str, Sequence[Shift]]


@frozen
class Record:
    """An object in an export. `object_id`: its id here."""

    object_id: int
    uuid: UUID
    data: dict[str, Any]


@frozen
class Stored:
    """Rows as they are stored, with those of their parts and the ids that their fields of many hold."""

    rows: Sequence[Values]
    parts: Mapping[str, Mapping[int, Sequence[Values]]]
    many: Mapping[str, Mapping[int, Sequence[int]]]


class Records:
    """Reads the objects of a project. The names of its agents, tags and other words are read once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._uuids = Uuids(project)
        self._names: dict[type[Model], dict[int, str]] = {}

    def read(self, exported: Exported, ids: Sequence[int]) -> list[Record]:
        """The records of these objects in this order; without those that do not exist."""
        stored = read_stored(exported, ids)
        if exported.prepare:
            exported.prepare(self.project.pk, stored.rows)
        uuids = self._uuids.of(self._named_by(exported, stored))
        exist = _existing(_joined_by(exported, stored))
        return [
            self._record(exported, row, stored, uuids, exist)
            for row in stored.rows
            if _joins_all(exported, row, exist)
        ]

    def _record(
        self,
        exported: Exported,
        row: Values,
        stored: Stored,
        uuids: Mapping[Object, UUID],
        exist: Set[Object],
    ) -> Record:
        object_id = row["id"]
        data, shifts = self._written(exported, row, uuids, exist)
        for name, many in exported.words.items():
            ids = stored.many[name].get(object_id, ())
            target = many.related_model
            if target in WORDS:
                data[name] = sorted(self._name(target, each) for each in ids)
            else:
                kind = exported_model(target).kind
                data[name] = sorted(str(uuids[kind, each]) for each in ids)
        for part in exported.parts:
            rows = stored.parts[part.name].get(object_id, ())
            data[part.name] = [
                self._written(part, each, uuids, exist)[0] for each in rows if _joins_all(part, each, exist)
            ]
        if exported.export:
            exported.export(data, shifts)
        return Record(object_id, uuids[exported.kind, object_id], data)

    def _written(
        self, rows: Rows, row: Values, uuids: Mapping[Object, UUID], exist: Set[Object]
    ) -> tuple[dict[str, Any], Shifts]:
        shifts: dict[str, Sequence[Shift]] = {}
        data: dict[str, Any] = {}
        for column in rows.fields:
            value = row[column.attname]
            if value is None:
                pass
            elif target := rows.keys.get(column.attname):
                is_word = target in WORDS
                value = (
                    self._name(target, value) if is_word else str(uuids[exported_model(target).kind, value])
                )
            elif kind := rows.ids.get(column.attname):
                value = str(uuids[kind, value]) if (kind, value) in exist else None
            else:
                value = _plain(rows, column, value, uuids, shifts)
            data[name_of(rows, column)] = value
        for name, (kind_column, id_column) in rows.points.items():
            data[name] = f"{row[kind_column]}:{uuids[row[kind_column], row[id_column]]}"
        return data, shifts

    def _named_by(self, exported: Exported, stored: Stored) -> Iterator[Object]:
        """The objects that the records name, themselves among them."""
        for row in stored.rows:
            yield exported.kind, row["id"]
        yield from _named_in(exported, stored.rows)
        for part in exported.parts:
            for rows in stored.parts[part.name].values():
                yield from _named_in(part, rows)
        for name, many in exported.words.items():
            if many.related_model not in WORDS:
                kind = exported_model(many.related_model).kind
                yield from ((kind, each) for ids in stored.many[name].values() for each in ids)

    def _name(self, model: type[Model], row_id: int) -> str:
        if model not in self._names:
            rows = model._base_manager.filter(project=self.project)
            self._names[model] = dict(rows.values_list("pk", "name"))
        return self._names[model][row_id]


def _plain(
    rows: Rows, column: Any, value: Any, uuids: Mapping[Object, UUID], shifts: dict[str, Sequence[Shift]]
) -> Any:
    """A value that is no key, with the refs in it."""

    def replace(kind: str, name: str) -> str | None:
        found = uuids.get((kind, int(name))) if name.isdecimal() else None
        return str(found) if found else None

    def replace_ref(text: str) -> str:
        ref = read_ref(text)
        new = replace(*ref) if ref else None
        return f"{ref[0]}:{new}" if ref and new else text

    if write := writer_of(column):
        value = write(value)
    if column.attname in rows.linked:
        if isinstance(value, str):
            value, shifts[column.attname] = replace_links(value, replace)
        else:
            value = replace_in(value, lambda text: replace_links(text, replace)[0])
    return replace_in(value, replace_ref) if column.attname in rows.refs else value


def name_of(rows: Rows, column: Any) -> str:
    """The name of a column in an export: `layer` for layer_id."""
    if column.attname in rows.ids:
        return str(column.attname).removesuffix("_id")
    return str(column.name)


def read_stored(exported: Exported, ids: Sequence[int]) -> Stored:
    """The rows of objects in the order of their ids here, without those that do not exist."""
    found = exported.model._base_manager.filter(pk__in=ids).values(
        *{"id", *(column.attname for column in exported.fields), *exported.left}
    )
    by_id = {row["id"]: row for row in found}
    rows = [by_id[row_id] for row_id in ids if row_id in by_id]
    parts = {part.name: _parts(part, ids) for part in exported.parts}
    many = {name: _many(field, ids) for name, field in exported.words.items()}
    return Stored(rows, parts, many)


def _parts(part: Part, ids: Sequence[int]) -> Mapping[int, Sequence[Values]]:
    found = part.model._base_manager.filter(**{f"{part.owner}__in": ids}).order_by(part.owner, *part.order)
    by_owner: dict[int, list[Values]] = defaultdict(list)
    for row in found.values(*{*(column.attname for column in part.fields), *part.left}):
        by_owner[row[part.owner]].append(row)
    return by_owner


def _many(many: Any, ids: Sequence[int]) -> Mapping[int, Sequence[int]]:
    links = links_of(many)
    among, values = sql.among(links.owner, ids)
    found = sql.rows(f"SELECT {links.owner}, {links.column} FROM {links.table} WHERE {among}", values)
    by_owner: dict[int, list[int]] = defaultdict(list)
    for owner, word in found:
        by_owner[owner].append(word)
    return by_owner


def _named_in(rows: Rows, stored: Iterable[Values]) -> Iterator[Object]:
    """The objects that rows name in their columns, refs and links."""
    keys = {
        column: exported_model(target).kind for column, target in rows.keys.items() if target not in WORDS
    } | {**rows.ids}
    for row in stored:
        for column, kind in keys.items():
            if (row_id := row[column]) is not None:
                yield kind, row_id
        for kind_column, id_column in rows.points.values():
            yield row[kind_column], row[id_column]
        for column in rows.linked:
            yield from filter(None, (_by_id(*found) for found in links_in(row[column])))
        for column in rows.refs:
            for text in texts_in(row[column]):
                if found := read_ref(text):
                    yield from filter(None, (_by_id(*found),))


def _joined_by(exported: Exported, stored: Stored) -> Iterator[Object]:
    """The objects that rows name in columns that the database does not check."""
    for rows, found in (
        (exported, stored.rows),
        *((part, [*chain(*stored.parts[part.name].values())]) for part in exported.parts),
    ):
        for row in found:
            yield from ((kind, row[column]) for column, kind in rows.ids.items() if row[column])
            yield from ((row[kind], row[row_id]) for kind, row_id in rows.points.values())


def _existing(objects: Iterable[Object]) -> Set[Object]:
    """Those of the objects that are there, with a query for each kind."""
    by_kind: dict[str, set[int]] = defaultdict(set)
    for kind, row_id in objects:
        by_kind[kind].add(row_id)
    found: set[Object] = set()
    for kind, ids in by_kind.items():
        if exported := exported_kind(kind):
            rows = exported.model._base_manager.filter(pk__in=ids).values_list("pk", flat=True)
            found |= {(kind, row_id) for row_id in rows}
    return found


def _joins_all(rows: Rows, row: Values, exist: Set[Object]) -> bool:
    """Whether a row joins nothing that was deleted."""
    return all((row[kind], row[row_id]) in exist for kind, row_id in rows.points.values())


def _by_id(kind: str, name: str) -> Object | None:
    """The object of a ref, if refs of its kind have ids."""
    exported = exported_kind(kind)
    return (kind, int(name)) if exported and exported.has_ids and name.isdecimal() else None
