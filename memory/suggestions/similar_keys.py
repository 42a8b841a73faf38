"""Finds similar keys: possible duplicates of a new key, and corrections of a mistyped one."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from math import floor
from typing import Annotated, Any

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.columns import read_words
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.abbreviations import meanings
from ctxhub.core.search.analyser import surface_words
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Scope
from ctxhub.core.search.matches import first_object_ids
from ctxhub.core.search.queries import Term
from ctxhub.core.search.spelling import find_near_words
from ctxhub.core.search.stems import stem
from ctxhub.toolbox.argument_types import About
from memory.decisions.models import DecisionStatus
from memory.decisions.rows import DECISIONS
from memory.suggestions.keys import are_alike, compare_keys, key_words, shorter_term, signatures

Branch = tuple[str, Sequence[Any]]
"""A SELECT that returns the `id`s of some decisions, and its parameters."""

NOT_DEPRECATED = f"AND d.status <> {DecisionStatus.DEPRECATED.value}"


@frozen
class CandidateRow:
    id: int
    key: str
    updated_at: datetime
    layer: str | None
    tags: Sequence[str]


def neighbours(project_id: int, key: str, limit: int, column: str = "id") -> list[Branch]:
    """Return branches for the keys just before and after this one; keys with one path sort together."""
    return [
        (
            f"SELECT {column} FROM memory_decision WHERE project_id = %s AND key {than} %s"
            f" ORDER BY key {direction} LIMIT %s",
            [project_id, key, limit],
        )
        for than, direction in (("<", "DESC"), (">", "ASC"))
    ]


def newest_with_tag(tag_id: int, limit: int) -> Branch:
    return (
        f"SELECT decision_id AS id FROM {DECISIONS.links['tags'].table} WHERE tag_id = %s"
        " ORDER BY updated_at DESC, decision_id DESC LIMIT %s",
        [tag_id, limit],
    )


def read_keys(project_id: int, branches: Sequence[Branch]) -> list[str]:
    """Read the keys of the candidates, also of deprecated ones."""
    return [key for (key,) in _read(project_id, branches, "d.key", "", "")]


def read_candidates(project_id: int, branches: Sequence[Branch]) -> list[CandidateRow]:
    """Read the candidates that are not deprecated, with layer and tags."""
    tags = f"""
        (SELECT {sql.json_list("w.name")} FROM memory_decisiontag x JOIN core_tag w ON w.id = x.tag_id
        WHERE x.decision_id = d.id)"""
    columns = f"d.id, d.key, d.updated_at, l.name, {tags}"
    return [
        CandidateRow(row_id, key, sql.read_time(at), layer, read_words(words))
        for row_id, key, at, layer, words in _read(
            project_id, branches, columns, "LEFT JOIN core_layer l ON l.id = d.layer_id", NOT_DEPRECATED
        )
    ]


def _read(
    project_id: int, branches: Sequence[Branch], columns: str, join: str, condition: str
) -> list[tuple[Any, ...]]:
    found = " UNION ".join(f"SELECT id FROM ({statement}) arm" for statement, _ in branches)
    return sql.rows(
        f"""
        WITH found AS MATERIALIZED ({found})
        SELECT {columns} FROM found CROSS JOIN memory_decision d {join}
        WHERE d.id = found.id AND d.project_id = %s {condition}""",
        [*(value for _, values in branches for value in values), project_id],
    )


WEIGHTS = {"tags": 40, "layer": 25, "key": 20, "text": 40}
WEIGHT_SUM = 90
RECENCY = ((timedelta(days=30), 10), (timedelta(days=90), 5), (timedelta(days=180), 2))


@frozen
class Score:
    """`points` 0..100; `parts` holds the points of each part and omits parts of 0. `exact`: not rounded."""

    points: int
    exact: float
    parts: Mapping[str, float]


def score(similarities: Mapping[str, float], age: timedelta) -> Score:
    """Score a decision; `similarities` holds 0..1 for each part of the request."""
    weight = sum(WEIGHTS[part] for part in similarities)
    parts = {
        part: WEIGHT_SUM * WEIGHTS[part] * share / weight for part, share in similarities.items() if share
    }
    if parts and (recency := next((points for within, points in RECENCY if age <= within), 0)):
        parts["recency"] = recency
    exact = sum(parts.values())
    points = floor(round(exact, 6) + 0.5)  # Rounds halves up, despite floating-point error.
    return Score(points, exact, {part: round(points, 1) for part, points in parts.items()})


def jaccard_index(some: Collection[str], others: Collection[str]) -> float:
    """Return the Jaccard index: the size of the intersection divided by the size of the union."""
    either = {*some, *others}
    return len({*some} & {*others}) / len(either) if either else 0.0


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
    similarities = {
        other: similarity.score
        for other in _compared_keys(project_id, key)
        if other != key and are_alike(key, other) and (similarity := compare_keys(key, other)).is_same
    }
    if not similarities:
        return []
    now = clock.now()
    found = [
        (score({"key": similarities[other]}, now - sql.read_time(at)), other)
        for other, at in sql.rows(*_changed_at(project_id, list(similarities)))
    ]
    found.sort(key=lambda pair: (-pair[0].exact, pair[1]))
    return [Similar(key=other, score=scored.points) for scored, other in found[:SIMILAR]]


def _compared_keys(project_id: int, key: str) -> list[str]:
    """The keys that may mean the same as this one, also deprecated ones: most are read from indexes alone."""
    beside = [
        (f"SELECT key FROM ({statement}) near", values)
        for statement, values in neighbours(project_id, key, NEIGHBOURS, "key")
    ]
    others = [
        (f"SELECT d.key FROM ({statement}) same CROSS JOIN memory_decision d WHERE d.id = same.id", values)
        for statement, values in _same_words(project_id, key)
    ]
    arms = [*beside, *others]
    statement = " UNION ".join(text for text, _ in arms)
    return [found for (found,) in sql.rows(statement, [value for _, values in arms for value in values])]


def _changed_at(project_id: int, keys: Sequence[str]) -> Branch:
    """The keys that are not deprecated, and when they last changed."""
    among, values = sql.among("d.key", keys)
    # As a text: making a time of each costs SQLite more than finding it.
    return (
        "SELECT d.key, CAST(d.updated_at AS text) FROM memory_decision d"
        f" WHERE d.project_id = %s AND {among} {NOT_DEPRECATED}",
        [project_id, *values],
    )


def near_keys(project_id: int, key: str, count: int = 5) -> list[str]:
    """Return corrections of a mistyped key, best first, in any case. Compares a bounded number of keys."""
    branches = with_similar_key(project_id, key, _corrections(project_id, key))
    for start in dict.fromkeys((key, key.lower())):
        branches += neighbours(project_id, start, MORE_NEIGHBOURS)
    keys = read_keys(project_id, branches)
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
    return [*neighbours(project_id, key, NEIGHBOURS), *_same_words(project_id, key), *with_words]


def _same_words(project_id: int, key: str) -> list[Branch]:
    """Return branches for keys with the same words in any order, a word less, or a word more."""
    own = signatures(key)
    if own.whole is None:
        return []
    wanted = [own.whole, *own.shorter]
    statement = "SELECT id FROM memory_decision WHERE project_id = %s AND signature = %s ORDER BY id LIMIT %s"
    by_row = [
        (f"SELECT id FROM ({statement}) arm", [project_id, signature, PER_SIGNATURE]) for signature in wanted
    ]
    # Only decisions have signatures, so their kind is no part of it.
    scope = [[f"P{project_id}"], [shorter_term(own.whole)]]
    return [*by_row, first_object_ids(scope, [], PER_SIGNATURE)]


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
