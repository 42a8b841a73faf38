"""Decides whether the globs of an object bear on a path. The only place that knows what `!` means."""

from collections.abc import Sequence

from ctxhub.core.text.glob_parts import WILDCARDS
from ctxhub.core.text.glob_syntax import exempted, is_exempting, not_exempting
from ctxhub.core.text.globs import is_glob, matches, overlap
from ctxhub.core.text.path_case import fold_path

HEAD_LENGTH = 200


def head_of(pattern: str) -> str:
    """The leading segments without wildcards, at most 200 characters of them: `Src/api/*` -> src/api.

    A path without wildcards is its own head. An exempting pattern has the head of what it exempts.
    """
    head = ""
    for segment in fold_path(exempted(pattern)).split("/"):
        longer = f"{head}/{segment}" if head else segment
        if not segment or not WILDCARDS.isdisjoint(segment) or len(longer) > HEAD_LENGTH:
            break
        head = longer
    return head


def specificity(pattern: str) -> tuple[int, int]:
    """Sorts globs by how much they fix: the segments of the head, then the letters outside wildcards."""
    head = head_of(pattern)
    fixed = len(pattern) - sum(pattern.count(wildcard) for wildcard in WILDCARDS)
    return (head.count("/") + 1 if head else 0), fixed


def heads_above(head: str) -> list[str]:
    """The head and every shorter one: src/api -> "", src, src/api."""
    segments = head.split("/") if head else []
    return ["/".join(segments[:count]) for count in range(len(segments) + 1)]


def range_below(head: str) -> tuple[str, str]:
    """The bounds between which all longer heads sort by code points: src/api -> src/api/ and src/api0."""
    return f"{head}/", f"{head}0"


EVERYWHERE = ""
"""The pattern of an object that bears on every path."""


def bear_on(patterns: Sequence[str], path: str) -> bool:
    """Whether an object with these patterns, in their order, bears on a path.

    The last pattern that matches a file decides: with `!` it exempts the file. For a glob exemptions do not
    count, as it may match other files: too much is found, never too little.
    """
    if not any(bears_on(each, path) for each in not_exempting(patterns)):
        return False
    if _may_be_several(path) or not any(map(is_exempting, patterns)):
        return True
    last = next((each for each in reversed(patterns) if matches(exempted(each), path)), "")
    return not is_exempting(last)


def bearing_patterns(patterns: Sequence[str], paths: Sequence[str]) -> set[str]:
    """The patterns by which an object bears on one of the paths; none that exempts."""
    found = [path for path in paths if bear_on(patterns, path)]
    return {each for each in not_exempting(patterns) if any(bears_on(each, path) for path in found)}


def is_named(patterns: Sequence[str], path: str) -> bool:
    """Whether one of the patterns, which bear on a path, is the path of this file itself, and no folder."""
    return path in not_exempting(patterns) and not _may_be_several(path)


def bears_on(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path, or overlaps it if the path is a glob itself."""
    if pattern in (EVERYWHERE, path):
        return True
    if is_glob(path):
        return overlap(pattern, path)
    folder = pattern[:-2] if pattern.endswith("/**") else pattern
    if folder.endswith("/") and not is_glob(folder[:-1]):
        # Also the folder itself, as for leases: a gap may be empty.
        return path.startswith(folder) or path == folder[:-1]
    return is_glob(pattern) and matches(pattern, path)


def _may_be_several(path: str) -> bool:
    """Whether a path stands for more than one file. Brackets are letters here: `app/[id]/page.tsx` is one."""
    return path.endswith("/") or "*" in path or "?" in path
