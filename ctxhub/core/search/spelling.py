"""Finds similar words in the vocabulary of a project, by edit distance."""

from collections.abc import Iterable, Mapping, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.kit.read_limit import checkpoint

# Endings of inflected forms of a word; the plain word comes first.
ENDINGS = ("", "s", "es", "ed", "ing")
LEAST_LETTERS = 4
# Words that are looked at, the nearest first, to find those with the same first letter.
NEAREST = 10
SHORT_LETTERS = 7


def near_words(
    word: str, known: Iterable[str], at_most: int = 2, furthest: int | None = None
) -> list[tuple[str, int]]:
    """Return the nearest other words with their distances, sorted by distance, then alphabetically.

    Inserting, deleting or replacing a letter, or swapping two neighbours, is a distance of 1. The default
    maximum is 1 for words of up to seven letters, 2 for longer ones, and 0 for those of under four, which
    are similar to too many.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    checkpoint()
    furthest = _furthest(word) if furthest is None else furthest
    found = process.extract_iter(word, known, scorer=OSA.distance, score_cutoff=furthest)
    near = sorted({(distance, near) for near, distance, _ in found if 0 < distance <= furthest})
    return [(near, distance) for distance, near in near[:at_most]]


def find_near_words(project_id: int, words: Iterable[str]) -> dict[str, list[str]]:
    """Return the project's words near to each word, or to a form of it; words without any are left out.

    `tokn` is near to `tokens` if there is no `token`.
    """
    forms = {word: [word + ending for ending in ENDINGS] for word in words if _furthest(word)}
    known = _known_words(project_id, {n for own in forms.values() for form in own for n in _lengths(form)})
    found = {}
    for word, own in forms.items():
        near = (near_words(form, known, furthest=_furthest(word)) for form in own)
        found[word] = [each for each, _ in next(filter(None, near), [])]
    return {word: near for word, near in found.items() if near}


def find_meant_words(project_id: int, words: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Return the project's words that each mistyped word most likely means, with their distances.

    `tokn` means `tokens` if there is no `token`, and `raets` `rate` if there is no `rates`.
    """
    forms = {word: _forms(word) for word in words}
    known = _known_words(project_id, {n for own in forms.values() for form in own for n in _lengths(form)})
    found = {word: _near_forms(word, own, known) for word, own in forms.items()}
    return {word: near for word, near in found.items() if near}


def known_among(project_id: int, words: Iterable[str]) -> set[str]:
    """Return those of the words that are in the vocabulary of the project."""
    among, values = sql.among("word", sorted(words))
    statement = f"SELECT word FROM core_searchword WHERE project_id = %s AND {among}"
    return {word for (word,) in sql.rows(statement, [project_id, *values])}


def find_words_within(project_id: int, reaches: Mapping[str, int], at_most: int) -> dict[str, list[str]]:
    """Return the project's words within so many edits of each word, by distance, then alphabetically."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    lengths = {n for word, reach in reaches.items() for n in range(len(word) - reach, len(word) + reach + 1)}
    known = sorted(_known_words(project_id, lengths))
    found: dict[str, list[str]] = {}
    for word, reach in reaches.items():
        checkpoint()
        near = process.extract(word, known, scorer=OSA.distance, score_cutoff=reach, limit=at_most)
        found[word] = [known_word for known_word, _, _ in near]
    return found


def is_slip(typed: str, word: str) -> bool:
    """Whether a letter was left out, typed twice, or changed with its neighbour; none is replaced."""
    if typed == word:
        return False
    return _lacks_letters(typed, word) or _lacks_letters(word, typed) or sorted(typed) == sorted(word)


def _near_forms(word: str, forms: Iterable[str], known: Sequence[str]) -> list[tuple[str, int]]:
    for form in forms:
        near = near_words(form, known, NEAREST, furthest=min(_furthest(word), _furthest(form)))
        # Of a shorter form more words are near by chance.
        if near := [each for each in near if len(form) >= len(word) or is_slip(form, each[0])]:
            return _best(word, near)
    return []


def _best(word: str, near: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those at the least distance, and with the first letter if any have it: people seldom miss it."""
    nearest = [each for each in near if each[1] == near[0][1]]
    return ([each for each in nearest if each[0][0] == word[0]] or nearest)[:2]


def _forms(word: str) -> list[str]:
    """The word, with further endings, and without its own."""
    shorter = [word.removesuffix(ending) for ending in ENDINGS[1:] if word.endswith(ending)]
    return [*(word + ending for ending in ENDINGS), *shorter] if _furthest(word) else []


def _lacks_letters(word: str, other: str) -> bool:
    letters = iter(other)
    return len(word) < len(other) and all(letter in letters for letter in word)


def _known_words(project_id: int, lengths: set[int]) -> list[str]:
    if not lengths:
        return []
    condition, values = sql.among("length(word)", sorted(lengths))
    # One JSON value: reading ten thousand rows takes twice as long.
    statement = f"SELECT {sql.json_list('word')} FROM core_searchword WHERE project_id = %s AND {condition}"
    [(known,)] = sql.rows(statement, [project_id, *values])
    words: list[str] = sql.read_json(known) or []
    return words


def _lengths(word: str) -> set[int]:
    """Return the lengths that words near to this one can have."""
    furthest = _furthest(word)
    return set(range(len(word) - furthest, len(word) + furthest + 1)) if furthest else set()


def _furthest(word: str) -> int:
    if len(word) < LEAST_LETTERS:
        return 0
    return 1 if len(word) <= SHORT_LETTERS else 2
