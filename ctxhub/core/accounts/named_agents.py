"""Finds the agents that a list of names means: several in one text, `@ada`, everyone."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from ctxhub.core.kit import sql
from ctxhub.core.kit.inputs import LIST_LENGTH, WORD_LENGTH, piece_of_list
from ctxhub.core.kit.text_lists import NULLS, UnreadableList, name_of_entry, read_names

# What means everyone where no agent is called so.
EVERYONE = frozenset(
    ["*", "all", "everyone", "everybody", "@all", "@everyone", "@everybody", "@here", "@channel"]
)
PEOPLE = "@people"
# A name that holds commas is looked for in so many pieces.
MOST_PIECES = 4
# A batch of 50 messages to 50 agents each.
MOST_ENTRIES = LIST_LENGTH * LIST_LENGTH

# What an entry holds that may mean something else than the agent of this name.
_MARKED = re.compile(r"""[][{}"'`,;\n\r]|^\s*(?:[@(]|[-*+•]\s)""")


def find_known_names(project_id: int, entries: Iterable[str]) -> frozenset[str]:
    """Which of the names that these entries may mean agents have, case-folded.

    Makes no query for entries that are plain names.
    """
    marked = (entry for entry in entries if _is_marked(entry))
    names = (name for entry in islice(marked, MOST_ENTRIES) for name in _possible_names(entry))
    possible = {name for name in names if len(name) <= WORD_LENGTH and name.isprintable()}
    if not possible:
        return frozenset()
    among, values = sql.among("folded", sorted(possible))
    statement = f"SELECT folded FROM core_agent WHERE project_id = %s AND {among}"
    return frozenset(folded for (folded,) in sql.rows(statement, [project_id, *values]))


def names_meant(entries: Iterable[str], known: Collection[str], argument: str) -> list[str]:
    """The names that the entries mean; one in `known` (case-folded) means that agent, whatever it holds.

    `@ada` is ada; words for everyone and `@people` stay as they are. Raises InvalidInput for a piece of a
    list.
    """
    return [
        name
        for position, entry in enumerate(entries)
        for name in _names_in(entry, known, f"{argument}[{position}]")
    ]


def means_everyone(name: str, known: Collection[str]) -> bool:
    return name.strip().casefold() in EVERYONE and name.strip().casefold() not in known


def means_people(name: str, known: Collection[str]) -> bool:
    return name.strip().casefold() == PEOPLE and PEOPLE not in known


def _names_in(entry: str, known: Collection[str], argument: str) -> Iterator[str]:
    if not _is_marked(entry) or entry.strip().casefold() in known:
        yield entry
        return
    try:
        yield from _names_of(_pieces(entry), known)
    except UnreadableList:
        raise piece_of_list(entry, argument) from None


def _names_of(pieces: list[str], known: Collection[str]) -> Iterator[str]:
    position = 0
    while position < len(pieces):
        runs = _runs(pieces[position : position + MOST_PIECES])
        length, name = next((run for run in runs if run[1].casefold() in known), (1, ""))
        yield name or _without_at(name_of_entry(pieces[position]))
        position += length


def _without_at(name: str) -> str:
    is_word = name.casefold() in EVERYONE or name.casefold() == PEOPLE
    return name if is_word else name.removeprefix("@").strip() or name


def _possible_names(entry: str) -> Iterator[str]:
    yield entry.strip().casefold()
    try:
        pieces = _pieces(entry)[:LIST_LENGTH]
    except UnreadableList:
        return
    for position in range(len(pieces)):
        yield from (name.casefold() for _, name in _runs(pieces[position : position + MOST_PIECES]))


def _runs(pieces: list[str]) -> Iterator[tuple[int, str]]:
    """The names that the first pieces make, the longest first, with the number of pieces."""
    for length in range(len(pieces), 1, -1):
        yield from ((length, separator.join(pieces[:length])) for separator in (", ", ",", "; ", ";"))
    yield 1, pieces[0]
    if pieces[0].casefold() != PEOPLE:
        yield 1, pieces[0].removeprefix("@").strip()


def _pieces(entry: str) -> list[str]:
    """The names in an entry, at least one. Raises UnreadableList."""
    return [str(name).strip() for name in read_names(entry)] or [""]


def _is_marked(entry: str) -> bool:
    name = entry.strip()
    return bool(_MARKED.search(entry)) or name.casefold() in EVERYONE or name in NULLS
