"""Finds the memories that are similar to a text."""

from collections.abc import Sequence

from ctxhub.core.events.selectors.stats import Stats
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, clean_query
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.selectors.spread import read_spread
from ctxhub.core.search.similarity import COMPARED_CHARACTERS, Rarity, Vector, count_words, vector
from memory.memories.selectors.memories import get_memory
from memory.memories.sql.candidates import read_best_ids
from memory.memories.sql.texts import KIND, MemoryText, read_texts

COLUMNS = ("id", "title", "score")
# Candidates that are compared; for a longer list twice its length.
CANDIDATES = 24
# Sample of memories that the rarity of words is computed from: all, if there are no more.
SPREAD = 200
# Candidates are looked up by LEAST_WORDS to MAX_WORDS words, expected in about LOOKED_THROUGH memories.
MAX_WORDS = 12
LEAST_WORDS = 3
LOOKED_THROUGH = 2_000


@frozen
class Similar:
    """A memory that is similar to a text; `score` 0..1."""

    id: int
    title: str
    score: float


@frozen
class Likely:
    """Candidates for a text: memories that have the words of its highest TF-IDF weights."""

    rarity: Rarity
    query: Vector
    texts: Sequence[MemoryText]


def find_similar(
    project_id: int, text: str, *, threshold: float = 0.3, limit: int = 10, except_id: int | None = None
) -> list[Similar]:
    """The memories most similar to a text, best first: the cosine of the TF-IDF of title and content.

    1.0: the same words with the same frequencies; memories without a significant word in common are left out.
    Never scans the table: the index gives candidates by the words of the highest weight.
    """
    likely = find_likely(project_id, text, max(CANDIDATES, 2 * limit) + 1)
    found = [one for one in compare(likely) if one.id != except_id and one.score >= threshold]
    return found[:limit]


def find_likely(project_id: int, text: str, at_most: int = CANDIDATES + 1) -> Likely:
    """At most `at_most` candidates; one of them may be the text itself."""
    rarity = Rarity.of_texts(read_spread(project_id, KIND, SPREAD))
    query = vector(count_words(text), rarity)
    ids = find_ids(project_id, KIND, query, rarity, at_most) if rarity.total else []
    return Likely(rarity, query, read_texts(project_id, ids, COMPARED_CHARACTERS))


def compare(likely: Likely) -> list[Similar]:
    """The candidates that have words in common with the text, best first."""
    found = [
        Similar(text.id, text.title, score)
        for text in likely.texts
        if (score := likely.query.cosine(vector(count_words(text.full_text), likely.rarity)))
    ]
    return sorted(found, key=lambda one: (-round(one.score, 6), -one.id))


def list_similar(
    project_id: int,
    *,
    memory_id: int | None = None,
    text: str | None = None,
    threshold: float = 0.3,
    limit: int = 10,
) -> Listing:
    """Rows id, title and score of the memories similar to a memory or a text, best first.

    Raises InvalidInput unless exactly one of the two is given, NotFound for an unknown memory.
    """
    threshold, limit = clean_threshold(threshold), clean_limit(limit)
    if (memory_id is None) == (text is None):
        raise InvalidInput("similar needs id or text, and not both.", missing=["id", "text"])
    if memory_id is not None:
        row = get_memory(project_id, memory_id)
        given = f"{row.title}\n{row.content}"
    else:
        given = clean_query(text or "", "text")
    found = find_similar(project_id, given, threshold=threshold, limit=limit, except_id=memory_id)
    return Listing(COLUMNS, [[one.id, one.title, round(one.score, 2)] for one in found])


def clean_threshold(value: float) -> float:
    if not 0 <= value <= 1:
        raise InvalidInput(f"threshold is {shown(value)}; it must be between 0 and 1.")
    return value


def find_ids(project_id: int, kind: str, query: Vector, rarity: Rarity, at_most: int) -> list[int]:
    """The ids of the objects of a kind with the highest total weight of the text's words.

    Frequent words are left out once the words before them are expected in LOOKED_THROUGH objects.
    """
    total = Stats(project_id).of(kind) if rarity.total >= SPREAD else rarity.total
    weights: dict[str, float] = {}
    expected = 0.0
    for word in sorted(query.weights, key=lambda word: (-query.weights[word], word))[:MAX_WORDS]:
        expected += total * rarity.counts.get(word, 0) / max(rarity.total, 1)
        if len(weights) >= LEAST_WORDS and expected > LOOKED_THROUGH:
            break
        weights[word] = query.weights[word] * rarity.of(word)
    return read_best_ids([[f"P{project_id}"], [kind_word(kind)]], weights, at_most)
