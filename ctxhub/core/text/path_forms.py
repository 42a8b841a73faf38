"""How models and people write paths: with a place in the file, in quotes, as a link, several in one text."""

import re
from collections.abc import Sequence

from ctxhub.core.kit.text_lists import UnreadableList, parse_list, split_names

_PLAIN = re.compile(r"(?!\./)[\w./*+-]+")
_QUOTES = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019"}
_STRAY_QUOTE = re.compile(r"""["'`\u201c\u2018][^"'`]+|[^"'`]+["'`\u201d\u2019]""")
# Of most paths one look tells that nothing can be cut.
_MARKED = re.compile(r"""[:#]|\A(?:["'`\u201c\u2018@]|\[[^\]]*\]\(|\.[/\\])""")
_LINK = re.compile(r"\[[^\]]*\]\(<?([^()<>]*(?:\([^()<>]*\)[^()<>]*)*)>?\)")
_PLACE = re.compile(r"(?:(?::L?\d+(?:[:-]L?\d+|\u2013\d+)*)?:?|#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?)\Z")
# What follows the name of a source file: `test_a.py::test_login`, `auth.py:login()`.
_SYMBOL = re.compile(r"(?<=\w)(?<!\A\w)::?[A-Za-z_~][^/\\]*\Z")
_HEADING = re.compile(r"#[^/\\]*\Z")
_SOURCE = re.compile(r"\.[A-Za-z][A-Za-z0-9+]{0,7}\Z")
_DOCUMENT = re.compile(r"\.(?:md|mdx|markdown|rst|adoc|html?|ipynb|txt)\Z", re.IGNORECASE)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]|file:", re.IGNORECASE)
_HOME = re.compile(r"~(?:[/\\]|\Z)")
_VARIABLE = re.compile(r"(?:\$[A-Z_][A-Z0-9_]*|\$\{[A-Z_][A-Z0-9_]*\}|\$env:\w+|%[A-Z_][A-Z0-9_]*%)[/\\]")

_SPACED = re.compile(r"[,;]\s|[\n\r]")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))
_AROUND = "[](){}\"'` "
_SEPARATORS = re.compile(r"[{},;\n\r]")
# The end of what is a file or a glob beyond doubt.
_FILE_END = re.compile(r"\.[A-Za-z]\w{0,7}\Z|[/*]\Z")

MOST_SPELLINGS = 8


def is_plain(text: str) -> bool:
    """Whether a text can only be one path as it is written, as most are: soon told."""
    return _PLAIN.fullmatch(text) is not None


def spellings(text: str) -> Sequence[str]:
    """The text, and what is left each time that a mark around the path is cut; the last has none.

    Marks are quotes, back-ticks, a leading `./` and `@` (not that of an extended glob), Markdown's links, and
    a place in the file: `:42`, `:12:3`, `#L10-L20`, `::test_login`. A leading `!` stays.
    """
    if text.startswith("!") and not text.startswith("!("):
        return [f"!{each}" for each in spellings(text[1:])]
    found = [text]
    while _MARKED.search(found[-1]) and len(found) < MOST_SPELLINGS:
        shorter = _cut(found[-1]).strip()
        if not shorter or shorter == found[-1]:
            break
        found.append(shorter)
    return found


def misplaced(path: str) -> str:
    """What a path is that is not relative to the repository, but for an absolute one; "": it is relative."""
    path = path.removeprefix("!")
    if _SCHEME.match(path):
        return "an address"
    if _HOME.match(path):
        return "in a home folder"
    return "below a variable" if _VARIABLE.match(path) else ""


def listed_paths(text: str) -> list[str] | None:
    """The paths of a text that is a list of them: JSON, Python's repr, or with lines, commas or semicolons.

    None: it is one path. Commas in braces separate nothing. Raises UnreadableList.
    """
    stripped = text.strip()
    if stripped[:1] in ("[", "(", '"', "'") and (listed := _parsed(stripped)) is not None:
        return listed
    return _split(stripped) if _is_separated(stripped) else None


def doubtful(path: str) -> str:
    """Why it is hardly the name of a file: what it seems to be instead; "" if it may be one.

    Of a name with blanks only the last word ends as a file's does, unlike in `src/a.py src/b.py`.
    """
    words = path.split()
    if len(words) > 1 and all(map(_FILE_END.search, words)):
        return "seems to be several paths with blanks between them"
    return "has a quote at one end" if _STRAY_QUOTE.fullmatch(path) else ""


def _cut(path: str) -> str:
    if _QUOTES.get(path[0]) == path[-1] and len(path) > 2:
        return path[1:-1]
    if link := _LINK.fullmatch(path):
        return link[1]
    if path.startswith(("./", ".\\")):
        return path[2:]
    if path.startswith("@") and not path.startswith("@("):
        return path[1:]
    return _without_place(path)


def _without_place(path: str) -> str:
    if (place := _PLACE.search(path)) and place[0]:
        return path[: place.start()]
    for mark, file in ((_SYMBOL, _SOURCE), (_HEADING, _DOCUMENT)):
        if (found := mark.search(path)) and file.search(path[: found.start()]):
            return path[: found.start()]
    return path


def _parsed(text: str) -> list[str] | None:
    """The texts of a list in JSON or as Python writes it. A path may begin with a bracket: `[id].tsx`."""
    try:
        listed = parse_list(text, brackets_are_letters=True)
    except UnreadableList:
        if "'" in text or '"' in text or (text.endswith("]") and "," in text):
            raise
        return None
    return listed if listed is not None and all(isinstance(each, str) for each in listed) else None


def names_several(text: str, listed: Sequence[str]) -> bool:
    """Whether a text that was split into these is no name: `a,b` may be one, `a, b` and `a.py,b.py` not."""
    return bool(_SPACED.search(text.strip())) or all(map(_FILE_END.search, listed))


def _split(text: str) -> list[str] | None:
    """The parts of a text; None if it is one name with a comma in it."""
    try:
        names = split_names(text, brackets_are_letters=True)
        is_list = all(name.count(left) == name.count(right) for name in names for left, right in _PAIRS)
    except UnreadableList:
        is_list = False
    if is_list:
        return names
    if names_several(text, [part.strip(_AROUND) for part in _SEPARATORS.split(text)]):
        raise UnreadableList
    return None


def _is_separated(text: str) -> bool:
    """Whether a comma, a semicolon or a line end stands outside of braces."""
    depth = 0
    for sign in _SEPARATORS.findall(text):
        if sign in "{}":
            depth = max(depth + (1 if sign == "{" else -1), 0)
        elif depth == 0 or sign in "\n\r":
            return True
    return False
