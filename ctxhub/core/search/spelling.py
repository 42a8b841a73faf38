"""Words that were meant, for those that are not found: what a project's own texts spell almost alike."""

from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from ctxhub.core.kit import sql

# How a word may go on and be the same, the plain word first.
ENDINGS = ("", "s", "es", "ed", "ing")
LEAST_LETTERS = 4
SHORT_LETTERS = 7


def near_words(
    word: str, known: Iterable[str], at_most: int = 2, furthest: int | None = None
) -> list[tuple[str, int]]:
    """The nearest of the other words with their distances, the nearest first, then by the alphabet.

    A letter more, less or other, or two that changed places, are a distance of 1. Words of up to seven
    letters may be 1 away, longer ones 2; those of under four are like too many to be told.
    """
    furthest = _furthest(word) if furthest is None else furthest
    found = process.extract_iter(word, known, scorer=OSA.distance, score_cutoff=furthest)
    near = sorted({(distance, near) for near, distance, _ in found if 0 < distance <= furthest})
    return [(near, distance) for distance, near in near[:at_most]]


def find_near_words(project_id: int, words: Iterable[str]) -> dict[str, list[str]]:
    """What the project's own words are near to each word, or to a form of it; words with none are left out.

    `tokn` is near to `tokens`, where there is no `token`.
    """
    lengths = {word: _lengths(word) for word in words}
    longest = {length + len(ending) for some in lengths.values() for length in some for ending in ENDINGS}
    known = _known_words(project_id, longest)
    found = {word: _near_forms(word, known) for word in lengths}
    return {word: near for word, near in found.items() if near}


def known_among(project_id: int, words: Iterable[str]) -> set[str]:
    """Those of the words that the project's texts have, as they are written."""
    among, values = sql.among("word", sorted(words))
    statement = f"SELECT word FROM core_searchword WHERE project_id = %s AND {among}"  # noqa: S608
    return {word for (word,) in sql.rows(statement, [project_id, *values])}


def find_words_within(project_id: int, reaches: Mapping[str, int], at_most: int) -> dict[str, list[str]]:
    """What the project's own words are within so many edits of each: the nearest first, then alphabetic."""
    lengths = {n for word, reach in reaches.items() for n in range(len(word) - reach, len(word) + reach + 1)}
    known = sorted(_known_words(project_id, lengths))
    found = {
        word: process.extract(word, known, scorer=OSA.distance, score_cutoff=reach, limit=at_most)
        for word, reach in reaches.items()
    }
    return {word: [near for near, _, _ in some] for word, some in found.items()}


def _near_forms(word: str, known: Sequence[str]) -> list[str]:
    forms = (word + ending for ending in ENDINGS)
    found = ([near for near, _ in near_words(form, known, furthest=_furthest(word))] for form in forms)
    return next(filter(None, found), [])


def _known_words(project_id: int, lengths: set[int]) -> list[str]:
    if not lengths:
        return []
    fitting, values = sql.among("length(word)", sorted(lengths))
    # As one value: ten thousand rows take twice the time.
    statement = f"SELECT {sql.json_list('word')} FROM core_searchword WHERE project_id = %s AND {fitting}"  # noqa: S608
    [(known,)] = sql.rows(statement, [project_id, *values])
    words: list[str] = sql.read_json(known) or []
    return words


def _lengths(word: str) -> set[int]:
    """How long a word may be that is near enough to this one."""
    furthest = _furthest(word)
    return set(range(len(word) - furthest, len(word) + furthest + 1)) if furthest else set()


def _furthest(word: str) -> int:
    if len(word) < LEAST_LETTERS:
        return 0
    return 1 if len(word) <= SHORT_LETTERS else 2
