"""Converts column values of other programs to text, time or JSON."""

import json
import math
from datetime import UTC, datetime
from typing import Any

MILLISECONDS_FROM = 10**11


def text_of(value: Any) -> str | None:
    """A column as text. Invalid UTF-8 becomes lone surrogates, which validation refuses."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if value is None or isinstance(value, str) else str(value)


def moment_of(seconds: Any) -> datetime | None:
    """A time from seconds since 1970, milliseconds (some versions) or ISO 8601 text; None if invalid."""
    try:
        number = float(seconds)
        return datetime.fromtimestamp(number / 1_000 if number > MILLISECONDS_FROM else number, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        pass
    try:
        moment = datetime.fromisoformat(str(seconds))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_json(text: Any) -> Any:
    """The JSON value of a text; the text itself if it is not JSON."""
    value = text_of(text)
    try:
        return None if value is None else json.loads(value)
    except (ValueError, RecursionError):
        return value


def is_numeric(value: Any) -> bool:
    """Whether a value or text is a finite number."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
