"""One search over everything a project knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from ctxhub.core import registry
from ctxhub.core.kit.inputs import clean_limit, clean_one_of
from ctxhub.core.kit.listing import COUNTED_TO, Listing, total_of
from ctxhub.core.search import semantic
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, Document
from ctxhub.core.search.engines import find_candidates
from ctxhub.core.search.excerpts import Wanted, excerpt
from ctxhub.core.search.queries import Term, asks_for_reasons
from ctxhub.core.search.ranking import Ranked, rank
from ctxhub.core.search.repeats import Shown, without_repeats
from ctxhub.core.search.selectors.nothing_found import explain_nothing
from ctxhub.core.search.selectors.questions import Search, SearchFilters, prepare
from ctxhub.core.search.selectors.turns import with_turns
from ctxhub.core.text.token_count import count_tokens

# What title and excerpt of a hit may cost, in tokens.
DETAILS = {"ids": 0, "compact": 60, "standard": 120, "detailed": 250}
COLUMNS = ("ref", "title", "excerpt", "score", "tokens", "more")
# So many passages are looked at; of a longer list twice as many as it has.
CANDIDATES = 100
# Of the terms that the best hit has.
MOST_TERMS = 0.6


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found. `score` 0..1; `tokens`: of title and excerpt; `more`: nearly equal ones left out."""

    ranked: Ranked
    document: Document
    title: str
    excerpt: str
    tokens: int
    more: int = 0

    @property
    def ref(self) -> str:
        return self.ranked.candidate.ref

    @property
    def score(self) -> float:
        return round(self.ranked.score, 2)


@dataclass(frozen=True, slots=True)
class Found:
    """`total`: as `total_of` says it; `search` is None where nothing can be found."""

    hits: Sequence[Hit] = ()
    total: Mapping[str, Any] = field(default_factory=lambda: total_of(0))
    search: Search | None = None
    method: str = "any"


def search(
    project_id: int,
    query: str,
    *,
    match: str = "auto",
    detail: str = "compact",
    limit: int = 10,
    shows_repeats: bool = True,
    **filters: Unpack[SearchFilters],
) -> Found:
    """The things that answer best, with an excerpt of each.

    `match`: any word (auto: and mistyped ones put right), all of them, fuzzy (near words too), or similar:
    the query is a text, and what is like it is found. People's syntax: "a phrase", -not, prefix*. Of nearly
    equal texts one is shown, unless `shows_repeats`.
    """
    budget = DETAILS[clean_one_of(detail, list(DETAILS), "detail")]
    limit = clean_limit(limit)
    prepared = prepare(project_id, query, match=match, **filters)
    if prepared is None or not prepared.weights:
        return Found(search=prepared, method=prepared.method if prepared else "any")
    looked_at = max(CANDIDATES, 2 * limit)
    candidates, counted = find_candidates(
        prepared.narrowing,
        prepared.query,
        prepared.weights,
        looked_at,
        COUNTED_TO + 1,
        prepared.counts,
    )
    ranked = rank(candidates, prepared.weights)
    if len(candidates) < looked_at:
        counted = len(ranked)
    method = prepared.method
    if semantic.is_on():
        ranked, method = _by_meaning(project_id, query, ranked), f"{method}+semantic"
    ranked = with_turns(project_id, ranked, prepared.narrowing, prepared.query, prepared.weights)
    ranked = with_priors(ranked, for_reasons=asks_for_reasons(query))
    shown = standing_first(without_repeats(ranked, limit, None if shows_repeats else _may_be_left_out))
    hits = _hits(project_id, shown, prepared.weights, budget)
    return Found(hits, total_of(max(counted, len(hits))), prepared, method)


def answer_search(
    project_id: int,
    query: str,
    *,
    match: str = "auto",
    detail: str = "compact",
    limit: int = 10,
    **filters: Unpack[SearchFilters],
) -> Listing:
    """The contract's answer: nearly equal texts once; where nothing is found, why, or what is near."""
    found = search(project_id, query, match=match, detail=detail, limit=limit, shows_repeats=False, **filters)
    listing = search_listing(found, detail)
    return listing if found.hits else listing.beside(explain_nothing(project_id, query, match, filters))


def search_listing(found: Found, detail: str) -> Listing:
    """Rows ref, title, excerpt, score, tokens, more, and what they cost together."""
    is_ids = DETAILS[clean_one_of(detail, list(DETAILS), "detail")] == 0
    rows = [
        [
            hit.ref,
            *((hit.title or None, None) if is_ids else (hit.title, hit.excerpt)),
            hit.score,
            hit.tokens,
            hit.more or None,
        ]
        for hit in found.hits
    ]
    tokens = sum(hit.tokens for hit in found.hits)
    meant = found.search.did_you_mean if found.search else None
    extra = {
        **found.total,
        "total_tokens": tokens,
        "avg_tokens": round(tokens / len(rows)) if rows else 0,
        "method": found.method,
        **({"did_you_mean": meant} if meant else {}),
    }
    return Listing(COLUMNS, rows, extra=extra)


def wanted_of(weights: Mapping[Term, float]) -> Wanted:
    """What an excerpt has to show: each word of a term is worth what the term is."""
    words: dict[str, float] = {}
    prefixes: dict[str, float] = {}
    for term, weight in weights.items():
        for spelling in term.spellings:
            for place, word in enumerate(spelling, start=1):
                into = prefixes if term.prefix and place == len(spelling) else words
                into[word] = max(into.get(word, 0.0), weight)
    return Wanted(words, prefixes)


# -- Pieces ----------------------------------------------------------------------------------------


def _by_meaning(project_id: int, query: str, ranked: list[Ranked]) -> list[Ranked]:
    """The best in the order that their meaning gives, too; the others behind them."""
    best, others = ranked[: semantic.DEPTH], ranked[semantic.DEPTH :]
    documents = _documents(project_id, best)
    read = [one for one in best if _key(one) in documents]
    texts = [f"{documents[_key(one)].title} {_passage(one, documents[_key(one)])}" for one in read]
    ordered = semantic.order(query, read, texts)
    least = ordered[-1].strength if ordered else 1.0
    return [*ordered, *(one._replace(strength=min(one.strength, least)) for one in others)]


def with_priors(ranked: Sequence[Ranked], *, for_reasons: bool) -> list[Ranked]:
    """In an order in which what was decided comes before talk about it, if it answers about as well.

    Who asks why asks for what has reasons: it comes first where it has most of the terms that the talk has,
    however rare the others are.
    """
    known = {noun.kind: noun for noun in registry.indexed_nouns()}
    most = max((len(one.parts) for one in ranked), default=0)
    best = max((one.strength for one in ranked), default=0.0)
    weighed = []
    for one in ranked:
        noun = known[one.candidate.kind]
        comes_first = for_reasons and noun.has_reasons and len(one.parts) >= MOST_TERMS * most
        lift = best / one.strength if comes_first and one.strength else 0.0
        weighed.append(_with_prior(one, noun.prior + lift))
    return sorted(weighed, key=lambda one: -one.strength)


def standing_first(shown: Sequence[Shown]) -> list[Shown]:
    """Earlier states below all that stands, and with no higher score."""
    standing = [one for one in shown if not one.ranked.candidate.is_earlier]
    least = min((one.ranked.strength for one in standing), default=1.0)
    earlier = [one for one in shown if one.ranked.candidate.is_earlier]
    for one in earlier:
        one.ranked = one.ranked._replace(strength=min(one.ranked.strength, least))
    return [*standing, *earlier]


def _with_prior(ranked: Ranked, prior: float) -> Ranked:
    return ranked if prior == 1.0 else ranked._replace(strength=ranked.strength * prior, prior=prior)


def _may_be_left_out(ranked: Ranked) -> bool:
    noun = registry.find_noun(ranked.candidate.kind)
    return noun is not None and not noun.is_kept


def _hits(project_id: int, shown: Sequence[Shown], weights: Mapping[Term, float], budget: int) -> list[Hit]:
    documents = _documents(project_id, [one.ranked for one in shown])
    wanted = wanted_of(weights)
    hits = []
    for one in shown:
        if document := documents.get(_key(one.ranked)):
            hits.append(replace(_hit(one.ranked, document, wanted, budget), more=one.more))
    return hits


def _hit(ranked: Ranked, document: Document, wanted: Wanted, budget: int) -> Hit:
    if not budget:
        # A ref alone would pass for what stands.
        mark = document.mark if ranked.candidate.is_earlier else ""
        return Hit(ranked, document, mark, "", count_tokens(ranked.candidate.ref) + count_tokens(mark))
    title = excerpt(document.shown_title, wanted, budget // 2)
    spent = count_tokens(title)
    text = excerpt(_passage(ranked, document), wanted, budget - spent)
    return Hit(ranked, document, title, text, spent + count_tokens(text))


def _passage(ranked: Ranked, document: Document) -> str:
    """What was found of its text; of what was found by what is not shown, the beginning."""
    start = ranked.candidate.start
    return document.body[start : start + PASSAGE_CHARACTERS] or document.body[:PASSAGE_CHARACTERS]


def _key(ranked: Ranked) -> tuple[str, int]:
    return ranked.candidate.kind, ranked.candidate.object_id


def _documents(project_id: int, ranked: Sequence[Ranked]) -> dict[tuple[str, int], Document]:
    """The originals, one reading for each kind."""
    ids: dict[str, list[int]] = {}
    for one in ranked:
        ids.setdefault(one.candidate.kind, []).append(one.candidate.object_id)
    return {
        (noun.kind, document.object_id): document
        for noun in registry.indexed_nouns()
        if noun.documents and noun.kind in ids
        for document in noun.documents(project_id, ids[noun.kind])
    }
