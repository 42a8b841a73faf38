"""Globs over paths: matching, and whether two globs overlap.

`*` and `?` match within a segment, `**` any number of segments (also none), `[a-z]` and `[!a-z]` one
character; `src/` matches everything below src. Brackets also match themselves, as frameworks name files
`[id].tsx`. Case-sensitive.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby

from ctxhub.core.kit.read_limit import checkpoint
from ctxhub.core.text.glob_overlap import have_common_path
from ctxhub.core.text.glob_parts import ANY, WILDCARDS, Gap, readings, split_glob, split_path

# -- Public functions ------------------------------------------------------------------------------


def is_glob(path: str) -> bool:
    """Whether the path has wildcards or ends in a slash, so that it may match other paths."""
    return path.endswith("/") or not WILDCARDS.isdisjoint(path)


def matches(pattern: str, path: str) -> bool:
    checkpoint()
    return bool(_compiled(pattern).match("/".join(split_path(path)) + "/"))


@lru_cache(maxsize=1_024)
def finds_below(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a name, or one of those above it, matches: of api/v1 that is api, too.

    Brackets are letters.
    """
    found = re.compile(as_regex(f"{pattern}/**", has_classes=False))
    return lambda name: bool(found.match("/".join(split_path(name)) + "/"))


def overlap(first: str, second: str) -> bool:
    """Whether there is a path that both match."""
    return have_common_path(first, second)


def head(pattern: str) -> str:
    """Return the first segment that all its paths begin with; "" if they may differ in it."""
    first = split_glob(pattern)[:1]
    return "" if first in ((), (Gap,)) or is_glob(str(first[0])) else str(first[0])


def matches_all(pattern: str) -> bool:
    """Whether every path matches: `**`, `**/*`."""
    segments = split_glob(pattern)
    named = [segment for segment in segments if segment is not Gap]
    return len(named) < len(segments) and len(named) <= 1 and all(map(_is_any_name, named))


def literal_start(pattern: str) -> str:
    """Return the literal prefix of all its paths."""
    return re.split(r"[*?[]", "/".join(split_path(pattern)), maxsplit=1)[0].rstrip("/")


def as_regex(pattern: str, *, atomic: str = "(?>", has_classes: bool = True) -> str:
    """Return the glob as a regular expression for the path followed by a slash.

    Atomic groups match each part between two wildcards at its first position, without backtracking, so no
    pattern is slow. For engines that need no such guarantee `atomic` is "(?:". `has_classes`: brackets are
    character classes, and letters; else letters alone.
    """
    segments = split_glob(pattern)
    groups = _split([None if s is Gap else f"{_segment_regex(s, atomic, has_classes)}/" for s in segments])
    return rf"\A{_joined(groups, '(?:[^/]+/)', atomic)}\Z"


# -- Pieces ----------------------------------------------------------------------------------------


def _is_any_name(segment: str | None) -> bool:
    """Whether a segment matches every name: names have a character or more."""
    tokens = next(readings(str(segment)))
    characters = [token for token in tokens if token is not Gap]
    return len(characters) < len(tokens) and len(characters) <= 1 and all(one == ANY for one in characters)


# -- As regular expressions ------------------------------------------------------------------------


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(as_regex(pattern))


def _segment_regex(segment: str, atomic: str, has_classes: bool) -> str:
    found = [
        _joined(_split([token.regex() if token else Gap for token in tokens]), "[^/]", atomic)
        for tokens in readings(segment, has_classes=has_classes)
    ]
    return f"{atomic}(?:{'|'.join(found)})(?=/))" if len(found) > 1 else found[0]


def _split(texts: Sequence[str | None]) -> list[str]:
    """Split a sequence at its gaps and join the texts between them."""
    groups = [list(group) for _, group in groupby(texts, key=lambda text: text is None)]
    joined = ["" if group == [None] else "".join(map(str, group)) for group in groups]
    first = [""] if texts[:1] == [None] else []
    last = [""] if texts[-1:] == [None] else []
    return [*first, *(text for text, group in zip(joined, groups, strict=True) if group != [None]), *last]


def _joined(groups: Sequence[str], step: str, atomic: str) -> str:
    first, *rest = groups or [""]
    between = "".join(f"{atomic}{step}*?{group})" for group in rest[:-1])
    return f"{first}{between}{step}*{rest[-1]}" if rest else first
