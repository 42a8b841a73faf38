"""Spellings of names: one form for all of them, and slips of the keyboard."""

import re
from collections.abc import Iterable

from ctxhub.core.kit.errors import LONGEST_WORD
from ctxhub.core.text.plurals import singular

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REST = re.compile(r"[^a-z0-9]+")
LONG = 7  # Letters of a word in which two may be wrong.


def snake(name: str) -> str:
    """Convert a name to snake case: `contextId`, `Context-ID` and `context id` become context_id."""
    return _REST.sub("_", _HUMP.sub("_", name[:LONGEST_WORD]).lower()).strip("_")


def squeezed(name: str) -> str:
    """Reduce a name to lower-case letters and digits: `quick-set`, `quickSet` and `QUICK_SET` are equal."""
    return _REST.sub("", name[:LONGEST_WORD].lower())


def in_singular(word: str) -> str:
    return singular(word) if len(word) > 2 else word


def meant_by_slip(name: str, known: Iterable[str]) -> str | None:
    """The known name that was mistyped: one letter is wrong, or two of a long word, but not the first.

    Similar words are no slips: `unread` is not `read`, `include_tags` not `exclude_tags`, `select` not `set`.
    """
    from rapidfuzz.distance import OSA

    plain = snake(name)
    near = [
        (OSA.distance(plain, snake(one), score_cutoff=2), one)
        for one in known
        if one[:1].lower() == plain[:1]
    ]
    allowed = [
        (away, one)
        for away, one in near
        if away <= (2 if min(len(plain), len(one)) >= LONG and "_" not in plain else 1)
    ]
    return min(allowed, key=lambda found: found[0])[1] if allowed else None
