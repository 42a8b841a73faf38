"""The values of columns in an export: labels of choices, times in UTC, JSON with numbers as both engines keep
them."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import models
from django.utils.dateparse import parse_datetime

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.known_names import holds_names
from ctxhub.core.text.invisible import invisible_places

Convert = Callable[[Any], Any]
# PostgreSQL writes a greater float of JSON as an integer.
MOST_FLOAT = 1e16
MOST_LEVELS = 64


@cache
def writer_of(field: Any) -> Convert | None:
    """The function that converts a value that is not None for an export; None: it stays as it is."""
    if isinstance(field, models.DateTimeField):
        return _written_time
    if isinstance(field, models.JSONField):
        return canonical
    if field.choices:
        labels = {value: str(label) for value, label in field.flatchoices}
        return lambda value: labels.get(value, value)
    return None


@cache
def reader_of(field: Any) -> Convert:
    """The function that reads a value of an export that is not None. It raises InvalidInput."""
    if isinstance(field, models.DateTimeField):
        return lambda value: _read_time(value, field)
    if isinstance(field, models.JSONField):
        return lambda value: _read_json(value, field, MOST_LEVELS)
    if field.choices:
        values = {str(label): value for value, label in field.flatchoices}
        return lambda value: _read_choice(value, values, field)
    if isinstance(field, models.BooleanField):
        return lambda value: _of_type(value, field, bool)
    if isinstance(field, models.FloatField):
        return lambda value: _read_float(value, field)
    if isinstance(field, models.IntegerField):
        at_least, at_most = _range_of(field)
        return lambda value: _read_integer(value, field, at_least, at_most)
    if isinstance(field, models.CharField):
        read = _read_name if holds_names(field.model, field.attname) else _read_line
        return lambda value: read(value, field)
    return lambda value: _read_text(value, field)


def _written_time(value: datetime) -> str:
    return value.astimezone(UTC).isoformat()


def canonical(value: Any) -> Any:
    """A JSON value with the numbers that PostgreSQL gives back for it."""
    if isinstance(value, float) and abs(value) >= MOST_FLOAT and math.isfinite(value):
        return int(value)
    if isinstance(value, float) and value == 0:
        return 0.0  # Without a sign.
    if isinstance(value, list):
        return [canonical(each) for each in value]
    if isinstance(value, dict):
        return {name: canonical(each) for name, each in value.items()}
    return value


def _read_time(value: Any, field: Any) -> datetime:
    try:
        moment = parse_datetime(_of_type(value, field, str))
        if moment is not None and moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(f"{field.name}: {shown(str(value))} is no time with its zone.")


def _read_json(value: Any, field: Any, levels: int) -> Any:
    if levels == 0:
        raise InvalidInput(f"{field.name}: nested deeper than {MOST_LEVELS} levels.")
    if isinstance(value, str):
        return _storable(value, field)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{field.name}: holds a number that JSON has not.")
    if isinstance(value, list):
        return [_read_json(each, field, levels - 1) for each in value]
    if isinstance(value, dict):
        return {_storable(name, field): _read_json(each, field, levels - 1) for name, each in value.items()}
    return value


def _read_choice(value: Any, values: dict[str, Any], field: Any) -> Any:
    if not isinstance(value, str) or value not in values:
        raise InvalidInput(f"{field.name}: {shown(str(value))} is unknown.", allowed=list(values))
    return values[value]


def _read_float(value: Any, field: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InvalidInput(f"{field.name}: {shown(str(value))} is no number.")


def _range_of(field: Any) -> tuple[int, int]:
    if isinstance(field, models.BigIntegerField | models.PositiveBigIntegerField):
        most = 2**63 - 1
    else:
        most = 2**15 - 1 if isinstance(field, models.PositiveSmallIntegerField) else 2**31 - 1
    return (0 if "Positive" in type(field).__name__ else -most), most


def _read_integer(value: Any, field: Any, at_least: int, at_most: int) -> int:
    if type(value) is not int or not at_least <= value <= at_most:
        raise InvalidInput(
            f"{field.name}: {shown(str(value))} is no whole number from {at_least} to {at_most}."
        )
    return int(value)


def _read_line(value: Any, field: Any) -> str:
    """A text of a length. It may hold what nobody sees: logs quote what callers sent, and old names."""
    text = _read_text(value, field)
    if len(text) > field.max_length:
        raise InvalidInput(f"{field.name}: {len(text):,} characters; the limit is {field.max_length}.")
    return text


def _read_name(value: Any, field: Any) -> str:
    """A name. One that the rules of names refuse can be found and renamed in the hub that exported it."""
    text = _read_line(value, field)
    if "\n" in text or "\r" in text or invisible_places(text):
        raise InvalidInput(
            f"{field.name}: {shown(text)} holds line ends or characters that nobody sees.",
            hint="In the hub that exported it, `manage.py invisible_names` says how to rename it.",
        )
    return text


def _read_text(value: Any, field: Any) -> str:
    return _storable(_of_type(value, field, str), field)


def _storable(text: str, field: Any) -> str:
    if "\0" in text or not _is_unicode(text):
        raise InvalidInput(f"{field.name}: holds a character that cannot be stored.")
    return text


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of_type(value: Any, field: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise InvalidInput(f"{field.name}: {shown(value)} is no {'text' if kind is str else kind.__name__}.")
    return value
