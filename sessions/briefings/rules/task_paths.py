"""Finds the paths that the text of a task names."""

import unicodedata
from collections.abc import Iterable, Iterator

from ctxhub.core.kit.inputs import PATH_LENGTH
from ctxhub.core.text.lazy_patterns import lazy_pattern

MOST_PATHS = 20

# Letters of scripts without blanks end a path: a sentence goes on right behind it.
_WORD = lazy_pattern(
    r"[^\s\"'`<>(){}|,;:=!?&#$%^~\u2010-\u206f\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]+"
)
_FILE = lazy_pattern(r"[\w+-]+(?:\.[\w+-]+)*\.[a-z][a-z0-9]{0,4}")
_ABBREVIATIONS = {"e.g", "i.e"}


def paths_in(text: str) -> list[str]:
    """The words with a slash and those with a file's extension, at most 20; no addresses of the web."""
    return list(dict.fromkeys(_found(unicodedata.normalize("NFC", text))))[:MOST_PATHS]


def in_short(text: str, paths: Iterable[str]) -> str:
    """The text with the end of each path alone, the folder and the name without extensions.

    What stands before says little: `backend/shop/search/ranking.py` -> `search ranking`.
    """
    for path in sorted(paths, key=len, reverse=True):
        *folders, name = path.split("/")
        text = text.replace(path, " ".join([*folders[-1:], name.partition(".")[0] or name]))
    return text


def _found(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        is_port = text[match.start() - 1 : match.start()] == ":" and match[0][0].isdigit()
        path = _bare(match[0].replace("\\", "/"))
        if not is_port and _is_path(path):
            yield path
            if path.startswith("@") and _is_path(path[1:]):
                yield path[1:]  # A mention: `@src/app.py`.


def _bare(word: str) -> str:
    """The word without marks around it: full stops, emphasis, brackets of a list or a link."""
    if word.startswith("*") and not word.startswith(("**/", "*/", "*.")):
        word = word.strip("*")
    word = word.rstrip(".")
    if word.startswith("[") and word.find("]") in (-1, len(word) - 1):
        word = word[1:].removesuffix("]")
    elif word.endswith("]") and "[" not in word:
        word = word[:-1]
    while word.startswith("./"):
        word = word[2:]
    return word.rstrip(".")


def _is_path(word: str) -> bool:
    if "/" not in word:
        return bool(_FILE.fullmatch(word)) and word not in _ABBREVIATIONS
    *folders, name = word.split("/")
    return (
        len(word) <= PATH_LENGTH
        and all(folders)
        and any(character.isalnum() for character in word)
        and not any(segment and not segment.strip(".") for segment in (*folders, name))
    )
