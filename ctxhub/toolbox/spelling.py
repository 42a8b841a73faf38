"""Spellings of names: one form for all of them, and slips of the keyboard."""

import re
from collections.abc import Iterable
from functools import lru_cache

from ctxhub.core.kit.likeness import LONGEST_WORD, plain, slip
from ctxhub.core.text.plurals import singular

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REST = re.compile(r"[^a-z0-9]+")


def snake(name: str) -> str:
    """Convert a name to snake case: `contextId`, `Context-ID` and `context id` become context_id."""
    return _snake(name[:LONGEST_WORD])


def squeezed(name: str) -> str:
    """Reduce a name to lower-case letters and digits: `quick-set`, `quickSet` and `QUICK_SET` are equal."""
    return _squeezed(name[:LONGEST_WORD])


# A refused call compares what it names with all names that are known, which are the same each time.
@lru_cache(maxsize=4096)
def _snake(name: str) -> str:
    return _REST.sub("_", _HUMP.sub("_", name).lower()).strip("_")


@lru_cache(maxsize=4096)
def _squeezed(name: str) -> str:
    return _REST.sub("", name.lower())


def in_singular(word: str) -> str:
    return singular(word) if len(word) > 2 else word


def meant_by_slip(name: str, known: Iterable[str]) -> str | None:
    """The known name that was mistyped: see `slip`.

    Similar words are no slips: `unread` is not `read`, `include_tags` not `exclude_tags`, `select` not `set`.
    """
    said = plain(snake(name))
    found = [(edits, one) for one in known if (edits := slip(said, plain(snake(one)))) is not None]
    return min(found, key=lambda each: each[0])[1] if found else None
