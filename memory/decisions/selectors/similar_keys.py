"""Finds similar keys: possible duplicates of a new key, and corrections of a mistyped one."""

from collections.abc import Mapping, Sequence
from typing import Annotated

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock, sql
from ctxhub.core.search.abbreviations import meanings
from ctxhub.core.search.analyser import surface_words
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Scope
from ctxhub.core.search.matches import first_object_ids
from ctxhub.core.search.queries import Term
from ctxhub.core.search.spelling import find_near_words
from ctxhub.core.search.stems import stem
from ctxhub.core.toolbox.argument_types import About
from memory.decisions.search.keys import key_words, similar_signatures
from memory.decisions.selectors.key_similarity import are_alike, compare_keys
from memory.decisions.selectors.scores import score
from memory.decisions.sql.candidates import Branch, neighbours, read_keys

SIMILAR = 3
MIN_SCORE = 60
# Limits on candidates: keys sorted just before and after the key, and matches of each of its signatures,
NEIGHBOURS, PER_SIGNATURE = 12, 5
# and decisions that contain all words of the key, or all but one of the last three.
WITH_WORDS, WORDS_OMITTED = 8, 3
# The lookup of an unknown key may take a little longer.
MORE_NEIGHBOURS = 100


class Similar(TypedDict):
    key: str
    score: Annotated[int, About("0 to 100.")]


def find_similar(project_id: int, key: str) -> list[Similar]:
    """Return up to three other keys that may mean the same: equal words in another order or form."""
    now = clock.now()
    found = [
        (score({"key": similarity.score}, now - sql.read_time(at)), other)
        for other, at in read_keys(project_id, _same_words(project_id, key)).items()
        if other != key and are_alike(key, other) and (similarity := compare_keys(key, other)).is_same
    ]
    found.sort(key=lambda pair: (-pair[0].exact, pair[1]))
    return [Similar(key=other, score=scored.points) for scored, other in found[:SIMILAR]]


def near_keys(project_id: int, key: str, count: int = 5) -> list[str]:
    """Return corrections of a mistyped key, best first, in any case. Compares a bounded number of keys."""
    branches = with_similar_key(project_id, key, _corrections(project_id, key))
    for start in dict.fromkeys((key, key.lower())):
        branches += neighbours(project_id, start, MORE_NEIGHBOURS)
    keys = read_keys(project_id, branches, include_deprecated=True)
    found = [(_correction_score(key, other), other) for other in keys]
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return [other for points, other in found[:count] if points >= MIN_SCORE]


def with_similar_key(
    project_id: int, key: str, corrections: Mapping[str, Sequence[str]] | None = None
) -> list[Branch]:
    """Return branches for decisions with a similar key. `corrections`: other spellings of its words."""
    words = list(dict.fromkeys(word for word, _ in key_words(key).words))
    spellings = {
        word: [*meanings(word), *((other,) for other in (corrections or {}).get(word, ()))] for word in words
    }
    terms = {word: Term(((word,), *spellings[word])) for word in words}
    subsets = [words, *([word for word in words if word != omitted] for omitted in words[-WORDS_OMITTED:])]
    scope = _scope(project_id)
    with_words = [
        first_object_ids(scope, [terms[word] for word in subset], WITH_WORDS) for subset in subsets if subset
    ]
    return [*_same_words(project_id, key), *with_words]


def _same_words(project_id: int, key: str) -> list[Branch]:
    """Return branches for keys with nearly the same words: neighbours in order, and by signature."""
    project = [f"P{project_id}"]
    # One query for each: for several at once PostgreSQL's index scans the whole scope. Only decisions have
    # signatures, so their kind is no part of it.
    by_signature = [
        first_object_ids([project, [signature]], [], PER_SIGNATURE) for signature in similar_signatures(key)
    ]
    return [*neighbours(project_id, key, NEIGHBOURS), *by_signature]


def _scope(project_id: int) -> Scope:
    return [[f"P{project_id}"], [kind_word("decision")]]


def _corrections(project_id: int, key: str) -> dict[str, list[str]]:
    """Return spelling corrections of the words of a key; words and corrections as stems."""
    corrections = find_near_words(project_id, surface_words(key))
    return {stem(word): [stem(other) for other in others] for word, others in corrections.items()}


def _correction_score(key: str, other: str) -> float:
    """Return 0..100: similarity of the letters, or that of the words if higher and the keys mean the same."""
    from rapidfuzz import fuzz

    similarity = compare_keys(key, other)
    letters = fuzz.ratio(key.casefold(), other.casefold())
    return max(letters, 100 * similarity.score) if similarity.is_same else letters
