"""Reads the rows that a deletion takes along, and writes them again under their ids."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django.db.models import CASCADE, SET_NULL, DateTimeField, ForeignKey, Model

from ctxhub.core.kit import sql
from ctxhub.core.kit.columns import adapter_of, by_column, reader_of
from ctxhub.core.kit.deletes import pointing_to
from ctxhub.core.kit.pages import Condition
from ctxhub.core.kit.rows import Table

Values = dict[str, Any]
"""The columns of a row, as JSON has them."""
VALUES_AT_ONCE = 30_000


def read_rows(model: type[Model], where: Condition) -> list[Values]:
    """The rows that meet a condition, by id."""
    columns = ", ".join(by_column(model))
    condition, values = where
    found = sql.rows(f"SELECT {columns} FROM {model._meta.db_table} WHERE {condition} ORDER BY id", values)
    return as_values(model, found)


def as_values(model: type[Model], found: Iterable[sql.Row]) -> list[Values]:
    """Rows that hold all columns of a model in the order of `by_column`."""
    columns = list(by_column(model))
    writers = _writers(model)
    return [
        {
            column: write(value) if value is not None and (write := writers[column]) else value
            for column, value in zip(columns, row, strict=True)
        }
        for row in found
    ]


def read_pointers(model: type[Model], column: str, ids: Sequence[int]) -> list[tuple[int, int]]:
    """The ids of the rows whose column holds one of these ids, with that."""
    among, values = sql.among(column, ids)
    found = sql.rows(f"SELECT id, {column} FROM {model._meta.db_table} WHERE {among} ORDER BY id", values)
    return [(row_id, target) for row_id, target in found]


def insert_rows(project_id: int, model: type[Model], rows: Sequence[Values]) -> int:
    """Insert rows under their ids; one whose id or name is there again is left out. Returns how many are in.

    Columns that are new since a row was read get their default, and those that are gone are left out.
    """
    fields = by_column(model)
    columns = list(fields)
    readers = _readers(model)
    count = 0
    for some in sql.chunks(rows, VALUES_AT_ONCE // len(columns)):
        records = []
        for row in some:
            known = {**row, "project_id": project_id}
            records.append(
                [
                    readers[column](known[column]) if column in known else _default(field)
                    for column, field in fields.items()
                ]
            )
        then = "ON CONFLICT DO NOTHING RETURNING id"
        count += len(sql.insert(model._meta.db_table, columns, records, then))
    return count


def derive_new_columns(project_id: int, table: Table[Any], rows: Sequence[Values]) -> None:
    """Fill the derived columns that rows which are back lack, for they are newer than the deletion."""
    ids = [row["id"] for row in rows if not row.keys() >= table.derived.keys()]
    for row in table.read(project_id, ids).values():
        table.derive_again(row)


def existing(project_id: int, model: type[Model], ids: Collection[int]) -> set[int]:
    """Those of the ids that the project has."""
    if not ids:
        return set()
    where, values = sql.by_ids("t", project_id, sorted(ids))
    found = sql.rows(f"SELECT t.id FROM {model._meta.db_table} t WHERE {where}", values)
    return {row_id for (row_id,) in found}


def still_empty(project_id: int, model: type[Model], column: str, ids: Sequence[int]) -> list[int]:
    """Those of the rows whose column is null."""
    where, values = sql.by_ids("t", project_id, ids)
    found = sql.rows(
        f"SELECT t.id FROM {model._meta.db_table} t WHERE {where} AND t.{column} IS NULL ORDER BY t.id",
        values,
    )
    return [row_id for (row_id,) in found]


def fill(model: type[Model], column: str, ids: Sequence[int], target: int) -> None:
    among, values = sql.among("id", ids)
    sql.execute(
        f"UPDATE {model._meta.db_table} SET {column} = %s WHERE {among} AND {column} IS NULL",
        [target, *values],
    )


def names_of(ids: Mapping[type[Model], Collection[int]]) -> dict[type[Model], dict[int, str]]:
    """The names of agents, tags and other words by their ids, in one statement."""
    models = {model._meta.db_table: model for model, some in ids.items() if some}
    parts, values = [], []
    for table, model in models.items():
        among, arguments = sql.among("id", sorted(ids[model]))
        parts.append(f"SELECT '{table}', id, name FROM {table} WHERE {among}")
        values += arguments
    names: dict[type[Model], dict[int, str]] = {model: {} for model in models.values()}
    for table, row_id, name in sql.rows(" UNION ALL ".join(parts), values) if parts else ():
        names[models[table]][row_id] = name
    return names


def is_name_taken(project_id: int, model: type[Model], name: Mapping[str, Any]) -> bool:
    """Whether the project has an object with these values in the columns that name it."""
    same = " AND ".join(f"{column} = %s" for column in name)
    return bool(
        sql.rows(
            f"SELECT 1 FROM {model._meta.db_table} WHERE project_id = %s AND {same} LIMIT 1",
            [project_id, *name.values()],
        )
    )


def remove_entries(ids: Sequence[int]) -> None:
    """Remove entries of the bin with what they hold."""
    for table, column in (("core_binpart", "item_id"), ("core_binitem", "id")):
        among, values = sql.among(column, ids)
        sql.execute(f"DELETE FROM {table} WHERE {among}", values)


def cascading(model: type[Model]) -> "Iterable[ForeignKey[Any, Any]]":
    """The foreign keys whose rows go with those of the model."""
    return (key for key in pointing_to(model) if key.remote_field.on_delete is CASCADE)


def clearing(model: type[Model]) -> "Iterable[ForeignKey[Any, Any]]":
    """The foreign keys that are set to null with the rows of the model."""
    return (key for key in pointing_to(model) if key.remote_field.on_delete is SET_NULL)


@cache
def _writers(model: type[Model]) -> Mapping[str, Callable[[Any], Any] | None]:
    """The functions that make JSON of a stored value."""
    found: dict[str, Callable[[Any], Any] | None] = {}
    for column, field in by_column(model).items():
        if isinstance(field, DateTimeField):
            found[column] = lambda value: sql.read_time(value).isoformat()
        else:
            found[column] = reader_of(field)
    return found


@cache
def _readers(model: type[Model]) -> Mapping[str, Callable[[Any], Any]]:
    """The functions that make a stored value of JSON."""
    return {column: _reader(field) for column, field in by_column(model).items()}


def _reader(field: Any) -> Callable[[Any], Any]:
    if isinstance(field, DateTimeField):
        return lambda value: value if value is None else sql.stored_time(sql.read_time(value))
    adapt = adapter_of(field)
    return lambda value: adapt(value) if adapt and value is not None else value


def _default(field: Any) -> Any:
    value = field.get_default()
    adapt = adapter_of(field)
    return adapt(value) if adapt and value is not None else value
