"""Tells which stored names hold characters that nobody sees; it changes none of them."""

from collections.abc import Iterator

from ctxhub.core.kit.known_names import InvisibleName, find_invisible_names
from ctxhub.core.text.invisible import marked_all

SHOWN = 5


def summary() -> str:
    """One sentence with their number and the first five; "" if there are none."""
    first, count = [], 0
    for found in find_invisible_names():
        count += 1
        if count <= SHOWN:
            first.append(_line(found))
    if not count:
        return ""
    more = f"; and {count - SHOWN:,} more" if count > SHOWN else ""
    names = "1 stored name holds" if count == 1 else f"{count:,} stored names hold"
    return (
        f"Attention: {names} characters that nobody sees: {'; '.join(first)}{more}. "
        "manage.py invisible_names lists them, and how to rename them."
    )


def lines() -> Iterator[str]:
    """A line for each."""
    return map(_line, find_invisible_names())


def _line(found: InvisibleName) -> str:
    return f"{found.project}: {found.kind} {found.id}: {marked_all(found.name)}"
