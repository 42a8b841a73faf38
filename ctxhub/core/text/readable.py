"""JSON as lines that a person reads, in the same order whichever database it comes from."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any


def as_lines(value: Any, name: str = "") -> Iterator[str]:
    """Each leaf on a line, behind the names that lead to it: `owner team: payments`. Null says nothing."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from as_lines(value[key], f"{name} {key}".strip())
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from as_lines(item, name)
    elif value is not None:
        yield f"{name}: {_leaf(value)}" if name else _leaf(value)


def _leaf(value: Any) -> str:
    """PostgreSQL gives back a large float that is whole as an integer, so both are written as one."""
    if isinstance(value, bool):
        return str(value).lower()
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(Decimal(str(value)))) if is_whole else str(value)
