"""Keys like another: those that a new one may repeat, and those that a mistyped one may have meant."""

from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.search.abbreviations import meanings
from ctxhub.core.search.analyser import surface_words
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Scope, first_object_ids
from ctxhub.core.search.queries import Term
from ctxhub.core.search.spelling import find_near_words
from ctxhub.core.search.stems import stem
from memory.decisions.search.keys import key_words, signs_like
from memory.decisions.selectors.key_similarity import compare_keys
from memory.decisions.selectors.scores import score
from memory.decisions.sql.candidates import Branch, neighbours, read_keys

SIMILAR = 3
NEAR_ENOUGH = 60
# How many are looked at: keys before one in their order and behind it, those that each of its signs finds,
AROUND, SIGNED = 12, 5
# and decisions that hold its words, all of them, or all but one of the last three.
HOLDING, LEFT_OUT = 8, 3
# Whoever asks for a key that is not there can wait a little longer.
FAR_AROUND = 100


class Similar(TypedDict):
    key: str
    score: int


def find_similar(project_id: int, key: str) -> list[Similar]:
    """Up to three other keys that may mean what this one does: the same words in another order or form."""
    now = clock.now()
    found = []
    for row in read_keys(project_id, _saying_the_same(project_id, key)):
        similarity = compare_keys(key, row.key)
        if row.key != key and similarity.is_same:
            found.append((score({"key": similarity.score}, now - row.updated_at), row.key))
    found.sort(key=lambda one: (-one[0].exact, one[1]))
    return [Similar(key=near, score=scored.points) for scored, near in found[:SIMILAR]]


def near_keys(project_id: int, key: str, count: int = 5) -> list[str]:
    """Keys that a mistyped one may have meant, whatever its case, nearest first, of a bounded number."""
    branches = with_key_like(project_id, key, _meant(project_id, key))
    for place in dict.fromkeys((key, key.lower())):
        branches += neighbours(project_id, place, FAR_AROUND)
    found = [(_nearness(key, row.key), row.key) for row in read_keys(project_id, branches, ended=True)]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [near for nearness, near in found[:count] if nearness >= NEAR_ENOUGH]


def with_key_like(
    project_id: int, key: str, meant: Mapping[str, Sequence[str]] | None = None
) -> list[Branch]:
    """Decisions that may have a key like it. `meant`: what its words may stand for beside themselves."""
    words = list(dict.fromkeys(word for word, _ in key_words(key).words))
    also = {word: [*meanings(word), *((other,) for other in (meant or {}).get(word, ()))] for word in words}
    terms = {word: Term(((word,), *also[word])) for word in words}
    some = [[word for word in words if word != other] for other in words[-LEFT_OUT:]]
    scope = _decisions_of(project_id)
    holding = [
        first_object_ids(scope, [terms[word] for word in held], HOLDING) for held in (words, *some) if held
    ]
    return [*_saying_the_same(project_id, key), *holding]


def _saying_the_same(project_id: int, key: str) -> list[Branch]:
    scope = _decisions_of(project_id)
    # One by one: of several at once PostgreSQL's index walks all there is in the scope.
    signed = [first_object_ids([*scope, [sign]], [], SIGNED) for sign in signs_like(key)]
    return [*neighbours(project_id, key, AROUND), *signed]


def _decisions_of(project_id: int) -> Scope:
    return [[f"P{project_id}"], [kind_word("decision")]]


def _meant(project_id: int, key: str) -> dict[str, list[str]]:
    """What the words of a key may have been, by their stems."""
    near = find_near_words(project_id, surface_words(key))
    return {stem(word): [stem(other) for other in others] for word, others in near.items()}


def _nearness(key: str, other: str) -> float:
    """0..100: how much of the letters is the same, or of the words, if the keys say the same."""
    similarity = compare_keys(key, other)
    letters = fuzz.ratio(key.casefold(), other.casefold())
    return max(letters, 100 * similarity.score) if similarity.is_same else letters
