"""Suggests decisions similar to a key, a text or tags, so that nothing is decided twice."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Unpack

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    LIST_LENGTH,
    WORD_LENGTH,
    clean_from_to,
    clean_limit,
    clean_name,
    clean_query,
    clean_words,
)
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.candidates import Candidate, find_candidates, read_beginnings
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.matches import first_object_ids
from ctxhub.core.search.questions import Search, prepare
from ctxhub.core.search.ranking import Ranked, rank
from ctxhub.core.vocabulary.names import find_vocabulary
from ctxhub.toolbox.argument_types import About, Default, KeyOf, Limit, Number, Words
from memory.decisions.rows import read_decisions
from memory.suggestions.keys import Similarity, compare_keys
from memory.suggestions.similar_keys import (
    Branch,
    CandidateRow,
    Score,
    jaccard_index,
    newest_with_tag,
    read_candidates,
    score,
    with_similar_key,
)

LAYER_OF_PREFIX = {
    "presentation": ("api", "endpoint", "ui"),
    "business": ("service", "logic", "workflow"),
    "data": ("db", "model", "schema"),
    "infrastructure": ("config", "deploy"),
}
DEFAULT_LAYER = "business"


class Inferred(TypedDict):
    layer: str | None
    tags: list[str]
    scope: str | None


def infer(key: str) -> Inferred:
    """Infer `db/user-table` as layer data, tags db, user and table, scope db.

    The first part of the key gives the layer, its words are the tags, its parent path is the scope.
    """
    parent, _, _ = key.rpartition("/")
    first = re.split(r"[/\-_.\s]", key.lower(), maxsplit=1)[0]
    layer = next((name for name, prefixes in LAYER_OF_PREFIX.items() if first in prefixes), DEFAULT_LAYER)
    words = [word[:WORD_LENGTH] for word in re.split(r"[/\-_,\s]+", key.lower()) if word]
    tags = clean_words(list(dict.fromkeys(words))[:LIST_LENGTH], "tags")
    scope = clean_name(parent[:WORD_LENGTH].replace(",", " "), "scope") if parent.strip(" ,") else None
    return Inferred(layer=layer, tags=tags, scope=scope)


COLUMNS = ("key", "score", "reason", "parts")
WORDS_NAMED = 3
SENTENCE = 300  # In characters. Longer texts are reduced to their most significant words.

# Limits on candidates; with those found by key at most 200.
ALL_TAGS, ONE_TAG, BY_TEXT = 25, 25, 45


@frozen
class Request:
    """The request that decisions are compared with; empty parts are ignored."""

    key: str = ""
    tags: Sequence[str] = ()
    tag_ids: Sequence[int] = ()
    layer: str = ""
    text: str = ""


@frozen
class Suggestion:
    row: CandidateRow
    score: Score
    reason: str


LIKE_KEY = "Like this key; one that exists asks with its layer and tags, too."


class SuggestArguments(TypedDict, total=False):
    """What `decision suggest` takes, before validation."""

    key: Annotated[str, KeyOf("decision"), About(LIKE_KEY)] | None
    text: Annotated[str, About("Like this text.")] | None
    tags: Annotated[Words, About("Like these tags.")] | None
    layer: Annotated[str, About("Of this layer.")] | None
    limit: Annotated[Limit, Default(5), About("Left out: 5.")]
    min_score: Annotated[
        Number, Default(30), About("0 to 100; left out: 30.", {"minimum": 0, "maximum": 100})
    ]


def suggest_decisions(project_id: int, **given: Unpack[SuggestArguments]) -> Listing:
    """Return rows key, score, reason, parts, best first; active decisions and drafts only.

    The key of an existing decision adds its layer and tags if none are given; it is not suggested itself.
    Raises InvalidInput, with `missing`, if neither key, text nor tags are given.
    """
    limit = clean_limit(given.get("limit", 5))
    min_score = clean_from_to(given.get("min_score", 30), "min_score", 0, 100)
    request = _read_request(project_id, given)
    suggestions = _suggestions(project_id, request)
    rows = [
        [s.row.key, s.score.points, s.reason, s.score.parts]
        for s in suggestions
        if s.score.points >= min_score
    ]
    return Listing(COLUMNS, rows[:limit])


# -- Request ---------------------------------------------------------------------------------------


def _read_request(project_id: int, given: SuggestArguments) -> Request:
    key, text, tags, layer = given.get("key"), given.get("text"), given.get("tags"), given.get("layer")
    if not (key or text or tags):
        raise InvalidInput("suggest needs key, text or tags.", missing=["key", "text", "tags"])
    request = Request(
        key=clean_name(key, "key") if key else "",
        text=clean_query(text, "text") if text else "",
        tags=clean_words(tags, "tags"),
        layer=clean_name(layer, "layer") if layer else "",
    )
    if own := read_decisions(project_id, [request.key]).get(request.key) if request.key else None:
        request = replace(request, tags=request.tags or own.tags, layer=request.layer or own.layer or "")
    vocabulary = find_vocabulary(project_id, tags=request.tags, layers=bool(request.layer))
    layer = vocabulary.layer(request.layer)[1] if request.layer else ""
    return replace(request, layer=layer, tag_ids=list(vocabulary.tags.values()))


# -- Candidates ------------------------------------------------------------------------------------


def _suggestions(project_id: int, request: Request) -> list[Suggestion]:
    search = _search(project_id, request.text) if request.text else None
    passages = (
        find_candidates(search.narrowing, search.query, search.weights, BY_TEXT, 1)[0] if search else []
    )
    branches = [
        *(with_similar_key(project_id, request.key) if request.key else ()),
        *_by_tags(project_id, request),
        *_by_id(passages),
    ]
    rows = read_candidates(project_id, branches) if branches else []
    ranked = _ranked(project_id, search, passages, rows) if search else {}
    found = [_suggestion(request, row, ranked.get(row.id)) for row in rows if row.key != request.key]
    return sorted((s for s in found if s.score.parts), key=lambda s: (-s.score.exact, s.row.key))


def _search(project_id: int, text: str) -> Search | None:
    match = "auto" if len(text) <= SENTENCE else "similar"
    search = prepare(project_id, text, match=match, kinds=["decision"], earlier=False)
    return search if search and search.weights else None


def _by_tags(project_id: int, request: Request) -> list[Branch]:
    if not request.tag_ids:
        return []
    scope = [[f"P{project_id}"], [kind_word("decision")], *([tag_word(tag)] for tag in request.tags)]
    limit = max(ONE_TAG // len(request.tag_ids), 1)
    per_tag = [newest_with_tag(tag_id, limit) for tag_id in request.tag_ids[:ONE_TAG]]
    return [first_object_ids(scope, [], ALL_TAGS), *per_tag]


def _by_id(passages: Sequence[Candidate]) -> list[Branch]:
    ids = list(dict.fromkeys(passage.object_id for passage in passages))
    return [(f"SELECT id FROM memory_decision WHERE id IN ({sql.marks(ids)})", ids)] if ids else []


def _ranked(
    project_id: int, search: Search, passages: Sequence[Candidate], rows: Sequence[CandidateRow]
) -> Mapping[int, Ranked]:
    """Rank all candidates for the text, by decision id, including those found by key or tags."""
    found_ids = {passage.object_id for passage in passages}
    other_ids = [row.id for row in rows if row.id not in found_ids]
    others = read_beginnings(project_id, "decision", other_ids) if other_ids else []
    ranked = rank([*passages, *others], search.weights)
    return {result.candidate.object_id: result for result in ranked}


# -- Scores ----------------------------------------------------------------------------------------


def _suggestion(request: Request, row: CandidateRow, ranked: Ranked | None) -> Suggestion:
    similarities: dict[str, float] = {}
    reasons: list[str] = []
    if request.tags:
        wanted = {tag.casefold() for tag in request.tags}
        similarities["tags"] = jaccard_index(wanted, {tag.casefold() for tag in row.tags})
        reasons += _reason("tags", [tag for tag in row.tags if tag.casefold() in wanted])
    if request.layer:
        similarities["layer"] = float(row.layer == request.layer)
        reasons += ["same layer"] if similarities["layer"] else []
    if request.key:
        key_similarity = compare_keys(request.key, row.key)
        similarities["key"] = key_similarity.score
        reasons += _key_reason(key_similarity)
    if request.text:
        similarities["text"] = ranked.score if ranked else 0.0
        reasons += _reason("text", _best_words(ranked)) if ranked else []
    return Suggestion(row, score(similarities, clock.now() - row.updated_at), "; ".join(reasons))


def _reason(part: str, names: Sequence[str]) -> list[str]:
    return [f"{part} {', '.join(names)}"] if names else []


def _key_reason(similarity: Similarity) -> list[str]:
    if similarity.is_same:
        return ["key says the same"]
    if similarity.path:
        return [f"key begins with {similarity.path}"]
    return ["key has words in common"] if similarity.score else []


def _best_words(ranked: Ranked) -> list[str]:
    """Return the query words that added most to the score."""
    terms = sorted(ranked.parts, key=lambda term: -ranked.parts[term])
    return list(dict.fromkeys(term.surface or " ".join(term.spellings[0]) for term in terms))[:WORDS_NAMED]
