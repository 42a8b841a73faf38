"""What a column of another program holds, as a text, a moment or JSON."""

import json
import math
from datetime import UTC, datetime
from typing import Any

MILLISECONDS_FROM = 10**11


def text_of(value: Any) -> str | None:
    """A column as text. What is no UTF-8 becomes half of a surrogate pair, which no rule lets through."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if value is None or isinstance(value, str) else str(value)


def moment_of(seconds: Any) -> datetime | None:
    """Seconds since 1970, in some versions milliseconds or a text; None for what is no time."""
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
    """The value that a text stores; a text that is no JSON stands for itself."""
    said = text_of(text)
    try:
        return None if said is None else json.loads(said)
    except (ValueError, RecursionError):
        return said


def is_numeric(value: Any) -> bool:
    """Whether a value, or what a text says, is a number that can be kept as one."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
