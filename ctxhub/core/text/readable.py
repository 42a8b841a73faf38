"""Formats JSON as lines for people, in an order that does not depend on the database."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any


def as_lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield a line for each leaf, after the names of its path: `owner team: payments`. Skips null."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from as_lines(value[key], f"{name} {key}".strip())
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from as_lines(item, name)
    elif value is not None:
        yield f"{name}: {_leaf(value)}" if name else _leaf(value)


def _leaf(value: Any) -> str:
    """Format a leaf. Whole floats become integers, as PostgreSQL returns large ones as integers."""
    if isinstance(value, bool):
        return str(value).lower()
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(Decimal(str(value)))) if is_whole else str(value)
