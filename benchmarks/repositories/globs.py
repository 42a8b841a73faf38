"""Which paths a glob names, and how exactly: apart from the hub's own reading of globs, which is measured."""

import re
from functools import cache

BRACES = re.compile(r"\{([^{}]*)\}")
PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def names(glob: str, path: str) -> bool:
    return bool(_pattern(glob).fullmatch(path))


def specificity(glob: str) -> tuple[int, bool]:
    """How many folders and files it fixes before its first wildcard, and whether it is one file."""
    head = re.split(r"[*?{]", glob)[0]
    is_exact = head == glob
    return head.count("/") + is_exact, is_exact


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile("|".join(_translated(one) for one in _expanded(glob)))


def _expanded(glob: str) -> list[str]:
    found = BRACES.search(glob)
    if not found:
        return [glob]
    before, after = glob[: found.start()], glob[found.end() :]
    return [whole for choice in found[1].split(",") for whole in _expanded(before + choice + after)]


def _translated(glob: str) -> str:
    # Without a folder it is a file's name anywhere, as in .gitignore.
    glob = glob.removeprefix("./").removeprefix("/")
    whole = glob if "/" in glob else f"**/{glob}"
    return "".join(MEANINGS.get(part) or re.escape(part) for part in PARTS.findall(whole))
