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
from memory.suggestions.keys import are_alike, compare_keys, key_words, similar_signatures

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


def neighbours(project_id: int, key: str, limit: int) -> list[Branch]:
    """Return branches for the keys just before and after this one; keys with one path sort together."""
    statement = "SELECT id FROM memory_decision WHERE project_id = %s AND key {} %s ORDER BY key {} LIMIT %s"
    return [
        (statement.format(*direction), [project_id, key, limit])
        for direction in (("<", "DESC"), (">", "ASC"))
    ]


def newest_with_tag(tag_id: int, limit: int) -> Branch:
    return (
        f"SELECT decision_id AS id FROM {DECISIONS.links['tags'].table} WHERE tag_id = %s"
        " ORDER BY updated_at DESC, decision_id DESC LIMIT %s",
        [tag_id, limit],
    )


def read_keys(
    project_id: int, branches: Sequence[Branch], *, include_deprecated: bool = False
) -> dict[str, Any]:
    """Read the keys of the candidates, each with its update time as it is stored: see `sql.read_time`."""
    condition = "" if include_deprecated else NOT_DEPRECATED
    # As a text: making a time of each costs SQLite more than finding it.
    return dict(_read(project_id, branches, "d.key, CAST(d.updated_at AS text)", "", condition))


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
