"""Columns of models: how SQL reads, writes and compares them, and which ones link tables copy."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from operator import ne
from typing import Any, TypeVar

from django.db import models

from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import read_cursor
from ctxhub.core.kit.pages import Links, Position

T = TypeVar("T")

# Every table has these columns of its own: they are never copies.
OWN = ("id", "project_id")


def by_column(model: type[models.Model]) -> dict[str, Any]:
    """The fields of a model, by column name: a foreign key is `layer_id`."""
    return {field.attname: field for field in model._meta.concrete_fields}


def links_of(many: Any) -> Links:
    """The link table of a many-to-many field."""
    return Links(many.remote_field.through._meta.db_table, many.m2m_reverse_name(), many.m2m_column_name())


def copies_of(many: Any) -> list[str]:
    """The columns of the model that the link table of a many-to-many field copies under the same names."""
    own = by_column(many.model).keys() - {*OWN}
    columns = by_column(many.remote_field.through).items()
    return [column for column, field in columns if column in own and not field.is_relation]


def adapter_of(field: Any) -> Callable[[Any], Any] | None:
    """The function that converts a non-null value for the database; None: unchanged."""
    return _of_type(_ADAPTERS, field)


def reader_of(field: Any) -> Callable[[Any], Any] | None:
    """The function that converts a stored value; None: unchanged."""
    read = _of_type(_READERS, field)
    return _or_none(read) if read and field.null else read


def difference_of(field: Any) -> Callable[[Any, Any], bool]:
    """The function that tells whether two values are stored differently."""
    return _of_type(_DIFFERENCES, field) or ne


def read_position(fields: Sequence[Any], cursor: str, sort: str = "") -> Position:
    """The values of these columns in a cursor, converted for the database; `sort` "": the order has no name.

    Raises InvalidInput for a bad cursor, and for the cursor of another sort.
    """
    kinds = [_of_type(_KINDS, field) or str for field in fields]
    values = read_cursor(cursor, *([str, *kinds] if sort else kinds))
    if sort and values.pop(0) != sort:
        raise InvalidInput(
            "cursor belongs to a list with another sort.", hint="Repeat the call that gave it."
        )
    adapters = [adapter_of(field) for field in fields]
    return tuple(adapt(value) if adapt else value for adapt, value in zip(adapters, values, strict=True))


def default_of(field: Any) -> Callable[[Any], Any]:
    return lambda _: field.get_default()


def read_words(value: Any) -> list[str]:
    """The names of a JSON list, in alphabetical order."""
    return sorted(sql.read_json(value) or (), key=str.casefold)


def casefolded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}


def _of_type(by_type: dict[type, T], field: Any) -> T | None:
    return next((value for kind, value in by_type.items() if isinstance(field, kind)), None)


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _json_differs(one: Any, other: Any) -> bool:
    """In Python True equals 1, and a list differs from a tuple; in JSON it is the other way round."""
    return one is not other and json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)


_KINDS: dict[type, type] = {models.DateTimeField: datetime, models.IntegerField: int}
_ADAPTERS: dict[type, Callable[[Any], Any]] = {
    models.DateTimeField: sql.stored_time,
    models.JSONField: sql.stored_json,
}
_READERS: dict[type, Callable[[Any], Any]] = {
    models.DateTimeField: sql.read_time,
    models.JSONField: sql.read_json,
    models.BooleanField: bool,
}
_DIFFERENCES: dict[type, Callable[[Any, Any], bool]] = {models.JSONField: _json_differs}
