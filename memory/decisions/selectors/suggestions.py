"""Which decisions are like a key, a text or tags: to be read before the same is decided twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_from_to, clean_limit, clean_name, clean_query, clean_words
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.engines import Candidate, find_candidates, first_object_ids, read_beginnings
from ctxhub.core.search.ranking import Ranked, rank
from ctxhub.core.search.selectors.questions import Search, prepare
from ctxhub.core.vocabulary.selectors.names import find_vocabulary
from memory.decisions.rows.decisions import read_decisions
from memory.decisions.selectors.key_similarity import Similarity, compare_keys
from memory.decisions.selectors.scores import Score, score, share_in_common
from memory.decisions.selectors.similar_keys import with_key_like
from memory.decisions.sql.candidates import Branch, CandidateRow, newest_with_tag, read_candidates

COLUMNS = ("key", "score", "reason", "parts")
WORDS_NAMED = 3
SENTENCE = 300  # Of longer texts the words count that say most about them.

# How many are looked at; with those that a key finds no more than 200.
ALL_TAGS, ONE_TAG, BY_TEXT = 25, 25, 45


@dataclass(frozen=True, slots=True)
class Asked:
    """What suggestions have to be like; a part that is empty does not count."""

    key: str = ""
    tags: Sequence[str] = ()
    tag_ids: Sequence[int] = ()
    layer: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    row: CandidateRow
    score: Score
    reason: str


def suggest_decisions(
    project_id: int,
    *,
    key: str | None = None,
    text: str | None = None,
    tags: Sequence[str] | None = None,
    layer: str | None = None,
    limit: int = 5,
    min_score: int = 30,
) -> Listing:
    """The contract's answer: rows key, score, reason, parts; best first, active ones and drafts.

    A key that exists asks with its layer and tags, too, where none are said, and is not suggested itself.
    Raises InvalidInput, with `missing`, if neither key, text nor tags are given.
    """
    limit, min_score = clean_limit(limit), clean_from_to(min_score, "min_score", 0, 100)
    asked = _read(project_id, key, text, tags, layer)
    found = _found(project_id, asked)
    rows = [
        [s.row.key, s.score.points, s.reason, s.score.parts] for s in found if s.score.points >= min_score
    ]
    return Listing(COLUMNS, rows[:limit])


# -- What is asked for -----------------------------------------------------------------------------


def _read(
    project_id: int, key: str | None, text: str | None, tags: Sequence[str] | None, layer: str | None
) -> Asked:
    if not (key or text or tags):
        raise InvalidInput("suggest needs key, text or tags.", missing=["key", "text", "tags"])
    asked = Asked(
        key=clean_name(key, "key") if key else "",
        text=clean_query(text, "text") if text else "",
        tags=clean_words(tags, "tags"),
        layer=clean_name(layer, "layer") if layer else "",
    )
    if own := read_decisions(project_id, [asked.key]).get(asked.key) if asked.key else None:
        asked = replace(asked, tags=asked.tags or own.tags, layer=asked.layer or own.layer or "")
    words = find_vocabulary(project_id, tags=asked.tags, layers=bool(asked.layer))
    layer = words.layer(asked.layer)[1] if asked.layer else ""
    return replace(asked, layer=layer, tag_ids=list(words.tags.values()))


# -- Candidates ------------------------------------------------------------------------------------


def _found(project_id: int, asked: Asked) -> list[Suggestion]:
    search = _search(project_id, asked.text) if asked.text else None
    passages = (
        find_candidates(search.narrowing, search.query, search.weights, BY_TEXT, 1)[0] if search else []
    )
    branches = [
        *(with_key_like(project_id, asked.key) if asked.key else ()),
        *_by_tags(project_id, asked),
        *_by_id(passages),
    ]
    rows = read_candidates(project_id, branches) if branches else []
    ranked = _ranked(project_id, search, passages, rows) if search else {}
    found = [_suggestion(asked, row, ranked.get(row.id)) for row in rows if row.key != asked.key]
    return sorted((one for one in found if one.score.parts), key=lambda one: (-one.score.exact, one.row.key))


def _search(project_id: int, text: str) -> Search | None:
    match = "auto" if len(text) <= SENTENCE else "similar"
    search = prepare(project_id, text, match=match, kinds=["decision"], earlier=False)
    return search if search and search.weights else None


def _by_tags(project_id: int, asked: Asked) -> list[Branch]:
    if not asked.tag_ids:
        return []
    scope = [[f"P{project_id}"], [kind_word("decision")], *([tag_word(tag)] for tag in asked.tags)]
    each = max(ONE_TAG // len(asked.tag_ids), 1)
    singly = [newest_with_tag(tag_id, each) for tag_id in asked.tag_ids[:ONE_TAG]]
    return [first_object_ids(scope, [], ALL_TAGS), *singly]


def _by_id(passages: Sequence[Candidate]) -> list[Branch]:
    ids = list(dict.fromkeys(passage.object_id for passage in passages))
    return [(f"SELECT id FROM memory_decision WHERE id IN ({sql.marks(ids)})", ids)] if ids else []  # noqa: S608


def _ranked(
    project_id: int, search: Search, passages: Sequence[Candidate], rows: Sequence[CandidateRow]
) -> Mapping[int, Ranked]:
    """How each answers the text, by its id: those that were found otherwise, too."""
    known = {passage.object_id for passage in passages}
    others = [row.id for row in rows if row.id not in known]
    more = read_beginnings(project_id, "decision", others) if others else []
    found = rank([*passages, *more], search.weights)
    return {one.candidate.object_id: one for one in found}


# -- Scores ----------------------------------------------------------------------------------------


def _suggestion(asked: Asked, row: CandidateRow, ranked: Ranked | None) -> Suggestion:
    alike: dict[str, float] = {}
    reasons: list[str] = []
    if asked.tags:
        wanted, has = {tag.casefold() for tag in asked.tags}, {tag.casefold() for tag in row.tags}
        alike["tags"] = share_in_common(wanted, has)
        reasons += _named("tags", [tag for tag in row.tags if tag.casefold() in wanted])
    if asked.layer:
        alike["layer"] = float(row.layer == asked.layer)
        reasons += ["same layer"] if alike["layer"] else []
    if asked.key:
        similarity = compare_keys(asked.key, row.key)
        alike["key"] = similarity.score
        reasons += _said_of_key(similarity)
    if asked.text:
        alike["text"] = ranked.score if ranked else 0.0
        reasons += _named("text", _telling(ranked)) if ranked else []
    return Suggestion(row, score(alike, clock.now() - row.updated_at), "; ".join(reasons))


def _named(part: str, names: Sequence[str]) -> list[str]:
    return [f"{part} {', '.join(names)}"] if names else []


def _said_of_key(similarity: Similarity) -> list[str]:
    if similarity.is_same:
        return ["key says the same"]
    if similarity.path:
        return [f"key begins with {similarity.path}"]
    return ["key has words in common"] if similarity.score else []


def _telling(ranked: Ranked) -> list[str]:
    """The words that have added most."""
    terms = sorted(ranked.parts, key=lambda term: -ranked.parts[term])
    return list(dict.fromkeys(term.surface or " ".join(term.spellings[0]) for term in terms))[:WORDS_NAMED]
