"""Finds the refs written in texts (`decision:api/auth`), and the rows that they name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.links import ObjectKey
from ctxhub.core.registry import Noun, all_nouns, find_noun

# Of the texts of a page: the different refs that are looked up, and the characters that are read.
MOST_REFS, CHARACTERS_READ = 200, 100_000


class FoundRef(NamedTuple):
    ref: str
    start: int
    end: int


def refs_in(text: str) -> Iterator[FoundRef]:
    """The refs of a text, whether anything has such a name or not; none within URLs."""
    for match in _pattern(tuple(noun.kind for noun in all_nouns() if noun.open and noun.heads)).finditer(
        text
    ):
        name = (match["name"] or "").rstrip(".,:!?*_~")
        if name:
            yield FoundRef(f"{match['kind']}:{name}", match.start(), match.start("name") + len(name))


def is_ref(text: str) -> bool:
    """Whether all of a text is one ref."""
    first = next(refs_in(text), None)
    return first is not None and first.ref == text


def rows_of_texts(project_id: int, texts: Iterable[str]) -> dict[str, ObjectKey]:
    """The existing rows of the project that the texts refer to, by ref.

    One query for each kind; one more for ids of a kind whose rows have names as well.
    """
    names: dict[str, list[str]] = {}
    for ref in _first_refs(texts):
        kind, _, name = ref.partition(":")
        names.setdefault(kind, []).append(name)
    return {
        f"{kind}:{name}": (kind, row_id)
        for kind, named in names.items()
        if (noun := find_noun(kind))
        for name, row_id in _existing(project_id, noun, named).items()
    }


def _first_refs(texts: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    left = CHARACTERS_READ
    for text in texts:
        for each in refs_in(text[:left]):
            found[each.ref] = None
            if len(found) == MOST_REFS:
                return list(found)
        left = max(left - len(text), 0)
    return list(found)


def _existing(project_id: int, noun: Noun, names: list[str]) -> Mapping[str, int]:
    """The ids of existing rows by name. What was found by a name that is no id exists."""
    if noun.ids_of:
        ids = noun.ids_of(project_id, names)
    else:
        ids = {name: row_id for name in names if (row_id := read_id(name))}
    unchecked = [row_id for name, row_id in ids.items() if name == str(row_id)]
    existing = noun.heads(project_id, unchecked) if noun.heads and unchecked else {}
    return {name: row_id for name, row_id in ids.items() if name != str(row_id) or row_id in existing}


@cache
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """URLs, to skip them, and refs. A name ends where no key or path is likely to go on."""
    name = rf"""[^\s<>"'`(),;\[\]{{}}|\\]{{1,{PATH_LENGTH}}}"""
    return re.compile(
        rf"(?:https?://|mailto:|www\.)\S+|(?<![\w/:.@&=?#%+\-])(?P<kind>{'|'.join(kinds)}):(?P<name>{name})"
    )
