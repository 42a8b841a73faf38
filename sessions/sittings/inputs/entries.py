"""Validates the entries of lists of objects: their names, numbers and texts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit.clock import EventCursor
from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.inputs import clean_from_to, clean_moment
from ctxhub.core.kit.likeness import nearest


def clean_entries(
    values: Sequence[Any] | None, name: str, fields: Sequence[str], at_most: int, *, text: str
) -> list[tuple[str, Mapping[str, Any]]]:
    """Each entry with its name for errors (`items[3]`). Raises InvalidInput for too many or other fields.

    An entry that is a text has it as the field `text`.
    """
    entries = list(values or ())
    if len(entries) > at_most:
        raise InvalidInput(f"{name} has {len(entries)} entries; the limit is {at_most}.")
    objects = [{text: entry} if isinstance(entry, str) else entry for entry in entries]
    return [(f"{name}[{n}]", _clean_entry(entry, f"{name}[{n}]", fields)) for n, entry in enumerate(objects)]


def text_of(entry: Mapping[str, Any], name: str, field: str, *, required: bool = False) -> str:
    """A text of an entry; "" if it is absent or null and not `required`."""
    value = entry.get(field)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise InvalidInput(
            f"{name} needs {field}: a text." if required else f"{name}.{field} must be a text."
        )
    return value


def number_of(entry: Mapping[str, Any], name: str, field: str, at_least: int, at_most: int) -> int | None:
    """A whole number of an entry; None if it is absent."""
    value = entry.get(field)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not value.is_integer()):
        raise InvalidInput(f"{name}.{field} must be a whole number, not {shown(value)}.")
    return clean_from_to(int(value), f"{name}.{field}", at_least, at_most)


def time_of(entry: Mapping[str, Any], name: str, field: str) -> datetime | None:
    value = text_of(entry, name, field)
    moment = clean_moment(value, f"{name}.{field}")
    if isinstance(moment, EventCursor):
        raise InvalidInput(f"{name}.{field} must be a time, not {shown(value)}.")
    return moment


def _clean_entry(entry: Any, name: str, fields: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise InvalidInput(
            f"{name} must be a text, or an object with {', '.join(fields)}; not {shown(entry)}."
        )
    if unknown := [str(field) for field in entry if field not in fields]:
        raise InvalidInput(
            f"{name} has no {shown_all(unknown)}; it takes {', '.join(fields)}.",
            did_you_mean=nearest(unknown[0], fields),
            allowed=list(fields),
        )
    return entry
