"""What globs have beside wildcards and braces: what is understood, and how else to write the rest."""

import re
from collections.abc import Iterable

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.text.braces import has_braces

EXEMPTS = "!"

_EXTENDED = re.compile(r"[@+?*!]\(")
_PLAIN_GROUP = re.compile(r"([@?])\(([^()]*)\)")
_ESCAPED_PAIR = re.compile(r"\\\[([^\\/]*)\\\]")


def is_exempting(pattern: str) -> bool:
    """Whether a pattern of a list exempts what it matches: `!src/gen/**`."""
    return pattern.startswith(EXEMPTS)


def exempted(pattern: str) -> str:
    """The glob of what an exempting pattern matches; another pattern as it is."""
    return pattern.removeprefix(EXEMPTS)


def not_exempting(patterns: Iterable[str]) -> list[str]:
    return [pattern for pattern in patterns if not is_exempting(pattern)]


def reads_otherwise(path: str) -> bool:
    """Whether a path is read as more than its letters, or refused, unless a file is known to be called so."""
    return is_exempting(path) or has_braces(path) or bool(_EXTENDED.search(path))


def unescape_brackets(path: str) -> str:
    r"""The path with `\[id\]` as `[id]`. One that is escaped alone stays: `app\[id]` is below app."""
    while "\\]" in path and (unescaped := _ESCAPED_PAIR.sub(r"[\1]", path)) != path:
        path = unescaped
    return path


def refuse_extended_glob(glob: str, name: str) -> None:
    """Raise InvalidInput for `@(a|b)`, `+(a)`, `?(a)`, `*(a)` and `!(a)`: they would match nothing."""
    if not (found := _EXTENDED.search(glob)):
        return
    raise InvalidInput(
        f"{name}: {shown(glob)} has the extended glob {found[0]}...), which is not understood.",
        hint=f"{_instead(glob, found[0])} In the name of a file that is really called so, write ? for the (.",
    )


def refuse_exempting(glob: str, name: str) -> None:
    """Raise InvalidInput for a glob that exempts, where none can."""
    if is_exempting(glob):
        raise InvalidInput(
            f"{name}: {shown(glob)} begins with '!', which exempts files only in the paths of decisions,"
            " constraints and memories.",
            hint="Name what is meant, and leave out the rest. In the name of a file that is really called so,"
            " write ? for the !.",
        )


def _instead(glob: str, sign: str) -> str:
    written = _PLAIN_GROUP.sub(_as_braces, glob)
    if not _EXTENDED.search(written):
        return f"Write {shown(written)}."
    return {
        "@(": "For @(a|b) write {a,b}.",
        "?(": "For ?(a) write {a,}.",
        "+(": "For +(a) write * instead, or {a,aa}.",
        "*(": "For *(a) write * instead, or {,a,aa}.",
        "!(": "For !(a) write what is meant, such as {b,c}; in the paths of decisions, constraints and"
        " memories also *, then !a in an entry of its own.",
    }[sign]


def _as_braces(group: re.Match[str]) -> str:
    alternatives = group[2].split("|")
    names = ["", *alternatives] if group[1] == "?" else alternatives
    return f"{{{','.join(names)}}}" if len(names) > 1 else names[0]
