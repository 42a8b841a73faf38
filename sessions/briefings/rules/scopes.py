"""Which scopes a path has: the names of its folders, and the stem of its file."""

from collections.abc import Iterable

from ctxhub.core.text.glob_parts import WILDCARDS

LONGEST = 4
"""The most names that a scope with slashes has."""


def scopes_of(paths: Iterable[str]) -> list[str]:
    """The case-folded scopes of paths and globs: `src/api/login.py` has src, api, login, src/api, api/login.

    A path without an extension may be a folder itself: `src/api` has the scope src/api.
    """
    found: dict[str, None] = {}
    for path in paths:
        *folders, name = path.casefold().split("/")
        stem = name.partition(".")[0] or name
        parts = [*folders, stem] if stem else folders
        for length in range(1, LONGEST + 1):
            for start in range(len(parts) - length + 1):
                found["/".join(parts[start : start + length])] = None
    return [scope for scope in found if scope and WILDCARDS.isdisjoint(scope)]
