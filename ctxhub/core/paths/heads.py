"""Heads: the folders that a glob begins with. An index by head finds the globs that may match a path.

Heads are without case, so that the index also serves projects in which it does not count.
"""

from ctxhub.core.text.glob_parts import WILDCARDS
from ctxhub.core.text.glob_syntax import exempted
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
