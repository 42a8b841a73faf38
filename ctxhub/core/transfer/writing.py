"""Writes the rows of objects that were read from lines: new ones, and those that replace others."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.columns import adapter_of, by_column, copies_of, links_of
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.transfer.declaration import Exported, Rows, Values
from ctxhub.core.transfer.values import Read

# SQLite keeps a hundred prepared statements; those of thousands of values take a megabyte each.
VALUES_AT_ONCE = 1_000


def insert_objects(
    project_id: int, exported: Exported, objects: Sequence[Read], *, first_id: int | None = None
) -> list[int]:
    """Insert objects with their parts; returns their ids in the same order, from `first_id` on."""
    records = [read.values for read in objects]
    if first_id is not None:
        records = [{"id": first_id + number, **values} for number, values in enumerate(records)]
    ids = _insert(exported, project_id, records)
    insert_parts(project_id, exported, dict(zip(ids, objects, strict=True)))
    return ids


def insert_parts(project_id: int, exported: Exported, objects: Mapping[int, Read]) -> None:
    """Insert the parts of objects, and what their fields of many hold, by the objects' ids."""
    for part in exported.parts:
        rows = [
            {**values, part.owner: row_id}
            for row_id, read in objects.items()
            for values in read.parts[part.name]
        ]
        _insert(part, project_id, rows)
    for name, many in exported.words.items():
        _insert_links(project_id, many, name, objects)


def update_objects(project_id: int, exported: Exported, objects: Mapping[int, Read], *, parts: bool) -> None:
    """Store objects over those of these ids; `parts`: replace their parts and what fields of many hold."""
    for row_id, read in objects.items():
        columns = [column for column in by_column(exported.model) if column in read.values]
        assigned = ", ".join(f"{column} = %s" for column in columns)
        values = _adapted(exported, columns, read.values)
        sql.execute(f"UPDATE {exported.table} SET {assigned} WHERE id = %s", [*values, row_id])
    if parts:
        _delete_parts(exported, list(objects))
        insert_parts(project_id, exported, objects)
    else:
        for name, many in exported.words.items():
            _delete_links(many, list(objects))
            _insert_links(project_id, many, name, objects)


def _insert(rows: Rows, project_id: int, records: Sequence[Values]) -> list[int]:
    if not records:
        return []
    columns = [column for column in by_column(rows.model) if column in records[0]]
    ids: list[int] = []
    for some in sql.chunks(records, VALUES_AT_ONCE // (len(columns) + 1)):
        values = [[project_id, *_adapted(rows, columns, each)] for each in some]
        # Both engines assign ids in the order of VALUES, but return them in any order.
        found = sql.insert(rows.table, ("project_id", *columns), values, "RETURNING id")
        ids += sorted(row_id for (row_id,) in found)
    return ids


def _adapted(rows: Rows, columns: Iterable[str], values: Values) -> list[Any]:
    adapters = _adapters(rows.model)
    return [
        adapt(value) if (value := values[column]) is not None and (adapt := adapters[column]) else value
        for column in columns
    ]


@cache
def _adapters(model: Any) -> Mapping[str, Any]:
    return {column: adapter_of(field) for column, field in by_column(model).items()}


def _insert_links(project_id: int, many: Any, name: str, objects: Mapping[int, Read]) -> None:
    links, copies = links_of(many), copies_of(many)
    adapters = _adapters(many.remote_field.through)
    records = []
    for row_id, read in objects.items():
        copied = [
            adapt(read.values[copy]) if (adapt := adapters[copy]) else read.values[copy] for copy in copies
        ]
        records += [[project_id, row_id, word, *copied] for word in dict.fromkeys(read.many[name])]
    columns = ("project_id", links.owner, links.column, *copies)
    for some in sql.chunks(records, VALUES_AT_ONCE // len(columns)):
        sql.insert(links.table, columns, some)


def _delete_parts(exported: Exported, ids: Sequence[int]) -> None:
    for part in exported.parts:
        found = part.model._base_manager.filter(**{f"{part.owner}__in": ids})
        delete_rows(part.model, list(found.values_list("pk", flat=True)))
    for many in exported.words.values():
        _delete_links(many, ids)


def _delete_links(many: Any, ids: Sequence[int]) -> None:
    links = links_of(many)
    among, values = sql.among(links.owner, ids)
    sql.execute(f"DELETE FROM {links.table} WHERE {among}", values)
