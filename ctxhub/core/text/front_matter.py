"""Finds front matter: the fields between two lines of `---` (YAML) or `+++` (TOML) that begin a note."""

import re

from ctxhub.core.text.lazy_patterns import lazy_pattern

LONGEST = 20_000

_BLOCK = lazy_pattern(
    r"\ufeff?\s*(---|\+\+\+)[ \t]*\r?\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
# A field, an entry of a list, a longer value's further line, a comment or nothing. Prose is none of these.
_FIELD = lazy_pattern(r"[\w.-]+[ \t]*[:=](?:[ \t]|$)")
_LINE = lazy_pattern(r"[\w.-]+[ \t]*[:=](?:[ \t].*)?|\[+[\w.-]+\]+|[ \t]*-(?:[ \t].*)?|[ \t]+.*|#.*|")
_TITLE = lazy_pattern(r"^title[ \t]*[:=][ \t]*(\S.*?)[ \t\r]*$", re.MULTILINE | re.IGNORECASE)


def without_front_matter(text: str) -> str:
    """The text behind its front matter; all of it if it has none, or nothing else."""
    found = _find(text)
    body = text[found.end() :] if found else text
    return body if body.strip() else text


def front_matter_end(text: str) -> int:
    """The offset of what follows the front matter; 0 if there is none."""
    found = _find(text)
    return found.end() if found else 0


def title_in_front_matter(text: str) -> str:
    """The field `title`, without its quotes; "" if there is none."""
    found = _find(text)
    title = _TITLE.search(found[2]) if found else None
    if not title:
        return ""
    value = title[1]
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].strip() if is_quoted else value


def _find(text: str) -> re.Match[str] | None:
    if not text[:8].lstrip("\ufeff \t\r\n").startswith(("---", "+++")):
        return None
    found = _BLOCK.match(text, 0, LONGEST)
    lines = found[2].splitlines() if found else []
    has_field = any(_FIELD.match(line) for line in lines)
    return found if has_field and all(_LINE.fullmatch(line) for line in lines) else None
