"""Full-text search over all searchable objects of a project."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Unpack

from ctxhub.core import registry
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.errors import shown as shown_value
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, clean_one_of
from ctxhub.core.kit.listing import COUNTED_TO, Listing, total_of
from ctxhub.core.kit.sql import read_together
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.counts import StaleShare
from ctxhub.core.paths.queries import Stale, Staleness
from ctxhub.core.search import semantic
from ctxhub.core.search.candidates import Candidate, find_candidates
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, Document
from ctxhub.core.search.excerpts import Wanted, counted_excerpt
from ctxhub.core.search.neighbours import with_turns
from ctxhub.core.search.nothing_found import explain_nothing
from ctxhub.core.search.order import Shown, current_first, later_first, without_repeats
from ctxhub.core.search.queries import Term, asks_for_reasons
from ctxhub.core.search.questions import Search, SearchFilters, prepare
from ctxhub.core.search.ranking import Ranked, rank
from ctxhub.core.text.parts import lines_around
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use import tally

# The token budget for title and excerpt of a hit.
DETAILS = {"ids": 0, "compact": 60, "standard": 120, "detailed": 250}
COLUMNS = ("ref", "title", "excerpt", "score", "tokens", "lines", "size", "more", "stale")
# The number of candidate passages; at least twice the limit of the list.
CANDIDATES = 60
# A share of the number of terms that the best hit has.
MOST_TERMS = 0.6
# The share of `least` that is asked of the turns beside a hit.
OF_TURNS = 0.5
# The share of a question's weight from which words are named that nothing has, and how many of them.
MOST_OF_IT = 0.5
NAMED = 5
# The factor for what is stale, unless much of the project is.
STALE = 0.85


@frozen
class Hit:
    """One hit. `score`: 0 to 1; `tokens`: of title and excerpt; `more`: nearly equal hits left out.

    `stale`: None if no changes of its files are to be looked at. Of a text longer than a passage `lines` are
    those of the passage that was found, and `size` is the length of the whole, in characters.
    """

    ranked: Ranked
    document: Document
    title: str
    excerpt: str
    tokens: int
    more: int = 0
    stale: Stale | None = None
    lines: str | None = None
    size: int | None = None

    @property
    def ref(self) -> str:
        return self.ranked.candidate.ref

    @property
    def score(self) -> float:
        return round(self.ranked.score, 2)


@frozen
class SearchResult:
    """A search result. `total`: as `total_of` returns it; where weak hits are left out, its `more` counts all
    that is not shown. `search`: None if a filter excludes everything. `beside`: how many hits of each kind
    are turns beside a hit, without a word of the query.
    """

    hits: Sequence[Hit] = ()
    total: Mapping[str, Any] = field(default_factory=lambda: total_of(0))
    search: Search | None = None
    method: str = "any"
    beside: Mapping[str, int] = field(default_factory=dict)


def search(
    project_id: int,
    query: str,
    *,
    match: str = "auto",
    detail: str = "compact",
    limit: int = 10,
    shows_repeats: bool = True,
    least: float = 0.0,
    **filters: Unpack[SearchFilters],
) -> SearchResult:
    """Return the best hits, each with an excerpt.

    `match`: any word (auto: with spelling correction), all words, fuzzy (similar words too), or similar: the
    query is a text, and objects similar to it are found. Query syntax: "a phrase", -not, prefix*. Of nearly
    equal texts one is shown, unless `shows_repeats`. Hits with less than the share `least` of the best score
    are left out.
    """
    budget = DETAILS[clean_one_of(detail, list(DETAILS), "detail")]
    limit = clean_limit(limit)
    prepared = prepare(project_id, query, match=match, **filters)
    if prepared is None or not prepared.weights:
        return SearchResult(search=prepared, method=prepared.method if prepared else "any")
    candidate_limit = max(CANDIDATES, 2 * limit)
    candidates, total = find_candidates(
        prepared.narrowing,
        prepared.query,
        prepared.weights,
        candidate_limit,
        COUNTED_TO + 1,
        prepared.counts,
        by_row=prepared.by_row,
    )
    matching = ranked = rank(candidates, prepared.weights)
    if len(candidates) < candidate_limit:
        total = len(ranked)
    method = prepared.method
    if semantic.is_on():
        ranked, method = _by_semantics(project_id, query, ranked), f"{method}+semantic"
    ranked = with_turns(project_id, ranked, prepared.narrowing, prepared.query, prepared.weights)
    known = {one.candidate.ref for one in matching}
    beside = Counter(one.candidate.kind for one in ranked if one.candidate.ref not in known and not one.parts)
    stale = _stale_of(ranked)
    ranked = with_priors(ranked, for_reasons=asks_for_reasons(query), lowered=stale.lowered)
    ranked = later_first(ranked, limit)
    shown = without_repeats(ranked, limit, None if shows_repeats else _may_be_left_out)
    shown = current_first(shown, prepared.query.wanted)
    strong = strong_enough(shown, least)
    hits = _hits(project_id, strong, prepared.weights, budget, stale.objects)
    counted = total_of(max(total + beside.total(), len(shown)))
    if len(strong) < len(shown) and "more" not in counted:
        counted["more"] = counted["total"] - len(strong) - sum(one.more for one in strong)
    return SearchResult(hits, counted, prepared, method, beside)


def answer_search(
    project_id: int,
    query: str,
    *,
    match: str = "auto",
    detail: str = "compact",
    limit: int = 10,
    least: float = 0.0,
    **filters: Unpack[SearchFilters],
) -> Listing:
    """Search and return the answer of the API: without repeats; if there are no hits, with a hint why."""
    found = search(
        project_id,
        query,
        match=match,
        detail=detail,
        limit=limit,
        shows_repeats=False,
        least=clean_least(least),
        **filters,
    )
    listing = search_listing(found, detail)
    if found.hits:
        nowhere = words_nowhere(found.search) if found.search else []
        return listing.beside({"hint": f"Nothing here has: {', '.join(nowhere)}."}) if nowhere else listing
    tally.found_nothing(query)
    return listing.beside(explain_nothing(project_id, query, match, filters))


def search_listing(found: SearchResult, detail: str) -> Listing:
    """Return the hits as rows of COLUMNS, with totals of hits and tokens."""
    is_ids = DETAILS[clean_one_of(detail, list(DETAILS), "detail")] == 0
    rows = [
        [
            hit.ref,
            *((hit.title or None, None) if is_ids else (hit.title, hit.excerpt)),
            hit.score,
            hit.tokens,
            hit.lines,
            hit.size,
            hit.more or None,
            hit.stale.count if hit.stale else None,
        ]
        for hit in found.hits
    ]
    tokens = sum(hit.tokens for hit in found.hits)
    suggestion = found.search.did_you_mean if found.search else None
    extra = {
        **found.total,
        "total_tokens": tokens,
        "avg_tokens": round(tokens / len(rows)) if rows else 0,
        "method": found.method,
        **({"did_you_mean": suggestion} if suggestion else {}),
    }
    return Listing(COLUMNS, rows, extra=extra)


def words_nowhere(search: Search) -> list[str]:
    """Return the words of a question that nothing in the project has, if they are MOST_OF_IT, at most NAMED.

    What is found has the others: that may be an answer in other words, or none.
    """
    typed = {term: weight for term, weight in search.weights.items() if term.surface}
    nowhere = [term for term in typed if not search.counts.get(term)]
    weighs = sum(typed[term] for term in nowhere)
    if search.method == "similar" or not nowhere or weighs < MOST_OF_IT * sum(typed.values()):
        return []
    return [term.surface for term in nowhere[:NAMED]]


def wanted_of(weights: Mapping[Term, float]) -> Wanted:
    """Return the words that an excerpt should show; each has the weight of its term."""
    words: dict[str, float] = {}
    prefixes: dict[str, float] = {}
    for term, weight in weights.items():
        for spelling in term.spellings:
            for position, word in enumerate(spelling, start=1):
                target = prefixes if term.prefix and position == len(spelling) else words
                target[word] = max(target.get(word, 0.0), weight)
    return Wanted(words, prefixes)


# -- Pieces ----------------------------------------------------------------------------------------


def _by_semantics(project_id: int, query: str, ranked: list[Ranked]) -> list[Ranked]:
    """Reorder the best hits by score and semantic similarity; the others follow."""
    best, others = ranked[: semantic.DEPTH], ranked[semantic.DEPTH :]
    documents = _documents(project_id, best)
    readable = [hit for hit in best if _key(hit) in documents]
    texts = [f"{documents[_key(hit)].title} {_passage(hit, documents[_key(hit)])}" for hit in readable]
    ordered = semantic.order(query, readable, texts)
    lowest = ordered[-1].strength if ordered else 1.0
    return [*ordered, *(hit._replace(strength=min(hit.strength, lowest)) for hit in others)]


def _stale_of(ranked: Sequence[Ranked]) -> Staleness:
    found = [(_key(one), one.candidate) for one in ranked]
    stale = {key: Stale(each.stale, each.stale_since) for key, each in found if each.stale_since}
    return Staleness(stale, max((each.stale_share for _, each in found), default=StaleShare()))


def with_priors(
    ranked: Sequence[Ranked], *, for_reasons: bool, lowered: Container[ObjectKey] = ()
) -> list[Ranked]:
    """Multiply scores by the prior of their kind: a decision precedes messages that match about as well.

    `lowered`: what is stale and ranks lower.

    If the query asks for reasons, kinds that have reasons come first: those hits that match at least
    MOST_TERMS of the number of terms of the best one, however rare the others are.
    """
    known = {noun.kind: noun for noun in registry.indexed_nouns()}
    most = max((len(one.parts) for one in ranked), default=0)
    best = max((one.strength for one in ranked), default=0.0)
    weighed = []
    for one in ranked:
        noun = known[one.candidate.kind]
        comes_first = for_reasons and noun.has_reasons and len(one.parts) >= MOST_TERMS * most
        lift = best / one.strength if comes_first and one.strength else 0.0
        factor = STALE if _key(one) in lowered else 1.0
        weighed.append(_with_prior(one, (noun.prior + lift) * factor))
    return sorted(weighed, key=lambda one: -one.strength)


def strong_enough(shown: Sequence[Shown], least: float) -> list[Shown]:
    """Return the hits that have at least the share `least` of the best one's score.

    Of a turn beside another hit less is asked: its own words are seldom those of the question.
    """
    floor = least * max((one.ranked.score for one in shown), default=0.0)
    return [one for one in shown if one.ranked.score >= floor * (OF_TURNS if one.ranked.is_turn else 1)]


def clean_least(value: float) -> float:
    """A share of the best score. Raises InvalidInput."""
    if not 0 <= value <= 1:
        raise InvalidInput(f"least is {shown_value(value)}; it must be a share of the best score, 0 to 1.")
    return value


def _with_prior(ranked: Ranked, prior: float) -> Ranked:
    if prior == 1.0:
        return ranked
    return Ranked(ranked.candidate, ranked.strength * prior, ranked.parts, ranked.lent, prior, ranked.is_turn)


def _may_be_left_out(ranked: Ranked) -> bool:
    noun = registry.find_noun(ranked.candidate.kind)
    return noun is not None and not noun.is_kept


def _hits(
    project_id: int,
    shown: Sequence[Shown],
    weights: Mapping[Term, float],
    budget: int,
    stale: Mapping[ObjectKey, Stale],
) -> list[Hit]:
    documents = _documents(project_id, [one.ranked for one in shown])
    wanted = wanted_of(weights)
    return [
        replace(_hit(one.ranked, document, wanted, budget), more=one.more, stale=stale.get(_key(one.ranked)))
        for one in shown
        if (document := documents.get(_key(one.ranked)))
    ]


def _hit(ranked: Ranked, document: Document, wanted: Wanted, budget: int) -> Hit:
    if not budget:
        # A ref alone would look like a current state.
        mark = document.mark if ranked.candidate.is_earlier else ""
        return Hit(ranked, document, mark, "", count_tokens(ranked.candidate.ref) + count_tokens(mark))
    title, spent = counted_excerpt(document.shown_title, wanted, budget // 2)
    text, tokens = counted_excerpt(_passage(ranked, document), wanted, budget - spent)
    lines, size = _place(ranked.candidate, document)
    return Hit(ranked, document, title, text, spent + tokens, lines=lines, size=size)


def _passage(ranked: Ranked, document: Document) -> str:
    """Return the text of the passage; the beginning of the body if the match is in unshown text."""
    start = ranked.candidate.start
    return document.body[start : start + PASSAGE_CHARACTERS] or document.body[:PASSAGE_CHARACTERS]


def _place(candidate: Candidate, document: Document) -> tuple[str | None, int | None]:
    """The lines of a passage and the size of the text that it is of, if that is long.

    None for the lines if the passage is of another part of the body.
    """
    first, last = document.readable
    if last - first <= PASSAGE_CHARACTERS or candidate.is_earlier:
        return None, None
    text = document.body[first:last]
    start, end = candidate.start - first, min(candidate.start + PASSAGE_CHARACTERS, last) - first
    return (lines_around(text, max(start, 0), end) if start < len(text) and end > 0 else None), len(text)


def _key(ranked: Ranked) -> ObjectKey:
    return ranked.candidate.kind, ranked.candidate.object_id


def _documents(project_id: int, ranked: Sequence[Ranked]) -> dict[tuple[str, int], Document]:
    """Read the documents of hits, in one statement on PostgreSQL."""
    ids: dict[str, list[int]] = {}
    for one in ranked:
        ids.setdefault(one.candidate.kind, []).append(one.candidate.object_id)
    nouns = [noun for noun in registry.indexed_nouns() if noun.kind in ids]
    found = read_together([noun.documents(project_id, ids[noun.kind]) for noun in nouns if noun.documents])
    return {
        (noun.kind, document.object_id): document
        for noun, documents in zip(nouns, found, strict=True)
        for document in documents
    }
