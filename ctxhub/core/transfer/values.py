"""Reads the data of a line into the columns of rows here, with the ids that objects have here."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Model

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.transfer.columns import reader_of
from ctxhub.core.transfer.declaration import Exported, Part, Rows, Shifts, Values, exported_model
from ctxhub.core.transfer.links import UUID_LENGTH, Shift, read_ref, replace_in, replace_links
from ctxhub.core.transfer.records import WORDS, name_of


class Unknown(InvalidInput):
    """A line names an object that no line before it has."""


@frozen
class Read:
    """An object as it is stored here: its columns, the rows of its parts, the ids of its fields of many.

    `waits`: it names objects whose lines come later. `is_void`: one that it joins is not there.
    """

    values: Values
    parts: Mapping[str, Sequence[Values]]
    many: Mapping[str, Sequence[int]]
    waits: bool = False
    is_void: bool = False


class Reader:
    """Reads data with the ids of objects: `ids` by kind and UUID as an integer, `names` of words by their
    case-folded name. `later`: the UUIDs of the file by kind."""

    def __init__(
        self,
        ids: Mapping[str, Mapping[int, int]],
        names: Mapping[type[Model], Mapping[str, int]],
        later: Mapping[str, set[int]],
    ) -> None:
        self._ids, self._names, self._later = ids, names, later
        self._waits = self._is_void = False

    def read(self, exported: Exported, data: Mapping[str, Any]) -> Read:
        """The object of a line. Raises InvalidInput for data that no export has."""
        self._waits = self._is_void = False
        data = dict(data)
        parts = {part.name: _list(data.pop(part.name, []), part.name) for part in exported.parts}
        many = {name: _list(data.pop(name, []), name) for name in exported.words}
        values, shifts = self._row(exported, data)
        if exported.import_:
            whole = {**data, **{name: [dict(each) for each in rows] for name, rows in parts.items()}}
            exported.import_(whole, shifts)
            parts = {name: whole[name] for name in parts}
        read_parts = {part.name: self._part(part, parts[part.name]) for part in exported.parts}
        ids = {
            name: self._many(exported.words[name].related_model, entries) for name, entries in many.items()
        }
        return Read(values, read_parts, ids, self._waits, self._is_void)

    def _part(self, part: Part, entries: Sequence[Any]) -> list[Values]:
        """The rows of a part, without those that join what is not there."""
        is_void, found = self._is_void, []
        for entry in entries:
            self._is_void = False
            values, _ = self._row(part, entry)
            found += [] if self._is_void else [values]
        self._is_void = is_void
        return found

    def _row(self, rows: Rows, data: Mapping[str, Any]) -> tuple[Values, Shifts]:
        if not isinstance(data, dict):
            raise InvalidInput(f"{shown(data)} is no object.")
        values: Values = {}
        names: Values = {}
        shifts: dict[str, Sequence[Shift]] = {}
        known = set()
        for column in rows.fields:
            name, column_name = name_of(rows, column), column.attname
            known.add(name)
            if name not in data:
                if not (column.has_default() or column.null or column.blank):
                    raise InvalidInput(f"{name} is missing.", missing=[name])
                values[column_name] = column.get_default()
                continue
            if column_name in rows.keys:
                names[name] = data[name]
            values[column_name] = self._value(rows, column, data[name], shifts)
        for name, (kind_column, id_column) in rows.points.items():
            known.add(name)
            values[kind_column], values[id_column] = self._point(data.get(name), name)
        if unknown := sorted({*data} - known):
            raise InvalidInput(f"{shown(unknown[0])} is no field.", allowed=sorted(known))
        derived = rows.derive({**names, **values}) if rows.derive else {}
        return {**values, **derived}, shifts

    def _value(self, rows: Rows, column: Any, value: Any, shifts: dict[str, Sequence[Shift]]) -> Any:
        name = column.attname
        if value is None:
            if name not in rows.ids and not column.null:
                raise InvalidInput(f"{column.name} must not be null.")
            return column.get_default() if name in rows.ids else None  # 0 or null.
        if target := rows.keys.get(name):
            return self._key(column, target, value)
        if kind := rows.ids.get(name):
            return self._id(kind, value, name_of(rows, column), must_exist=False)
        return self._plain(rows, column, value, shifts)

    def _plain(self, rows: Rows, column: Any, value: Any, shifts: dict[str, Sequence[Shift]]) -> Any:
        value = reader_of(column)(value)
        if column.attname in rows.linked:
            if isinstance(value, str):
                value, shifts[column.attname] = replace_links(value, self._replace)
            else:
                value = replace_in(value, lambda text: replace_links(text, self._replace)[0])
        if column.attname in rows.refs:
            value = replace_in(value, self._replace_ref)
        if clean := rows.cleaners.get(column.attname):
            try:
                value = clean(value)
            except InvalidInput as error:
                raise InvalidInput(f"{column.name}: {error.message}", hint=error.hint) from error
        return value

    def _key(self, column: Any, target: type[Model], value: Any) -> int | None:
        if target in WORDS:
            return self._word(target, value, column.name)
        kind = exported_model(target).kind
        return self._id(kind, value, column.name, must_exist=not column.null)

    def _word(self, model: type[Model], value: Any, name: str) -> int:
        if not isinstance(value, str) or (found := self._names[model].get(value.casefold())) is None:
            raise Unknown(f"{name}: no line before it has the {model._meta.verbose_name} {shown(value)}.")
        return found

    def _id(self, kind: str, value: Any, name: str, *, must_exist: bool) -> int | None:
        try:
            uuid = UUID(value).int
        except (ValueError, TypeError, AttributeError):
            raise InvalidInput(f"{name}: {shown(value)} is no UUID.") from None
        if (found := self._ids.get(kind, {}).get(uuid)) is not None:
            return found
        if must_exist or uuid not in self._later.get(kind, ()):
            raise Unknown(f"{name}: no line before it has the {kind} {value}.")
        self._waits = True
        return None

    def _point(self, value: Any, name: str) -> tuple[str, int]:
        ref = read_ref(value) if isinstance(value, str) else None
        if ref is None or len(ref[1]) != UUID_LENGTH:
            raise InvalidInput(f"{name}: {shown(value)} is no kind with a UUID.")
        kind, uuid = ref[0], UUID(ref[1]).int
        found = self._ids.get(kind, {}).get(uuid)
        if found is None:
            self._waits |= uuid in self._later.get(kind, ())
            self._is_void = True
        return kind, found or 0

    def _many(self, model: Any, entries: Sequence[Any]) -> list[int]:
        name = model._meta.model_name
        if model in WORDS:
            return [self._word(model, each, name) for each in entries]
        kind = exported_model(model).kind
        found = [self._id(kind, each, name, must_exist=False) for each in entries]
        return [each for each in found if each is not None]

    def _replace(self, kind: str, name: str) -> str | None:
        if len(name) != UUID_LENGTH:
            return None
        uuid = UUID(name).int
        if (found := self._ids.get(kind, {}).get(uuid)) is not None:
            return str(found)
        self._waits |= uuid in self._later.get(kind, ())
        return None

    def _replace_ref(self, text: str) -> str:
        ref = read_ref(text)
        new = self._replace(*ref) if ref else None
        return f"{ref[0]}:{new}" if ref and new else text


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{name}: {shown(value)} is no list.")
    return value
