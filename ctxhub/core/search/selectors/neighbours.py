"""Conversations: a hit adds a share of its score to its neighbours (replies, messages before and after)."""

from collections.abc import Mapping, Sequence

from ctxhub.core import registry
from ctxhub.core.search.candidates import Candidate, read_beginnings
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.ranking import Ranked, occurrences, rank

# Only so many of the best hits lend score to neighbours.
LENDERS = 20

Key = tuple[str, int]


def with_turns(
    project_id: int,
    ranked: Sequence[Ranked],
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
) -> list[Ranked]:
    """Add loans to the scores of hits, and add neighbours that are not hits themselves; best first."""
    loans = _loans(project_id, ranked[:LENDERS])
    known = {_key(one) for one in ranked}
    # If all words must match, a neighbour without them is no hit.
    unknown = [] if query.needs_all else [key for key in loans if key not in known]
    new = _matching(project_id, unknown, narrowing, query)
    borrowed = [_with_loan(one, loans.get(_key(one), 0.0)) for one in [*ranked, *rank(new, weights)]]
    return sorted(borrowed, key=lambda one: -one.strength) if loans else list(ranked)


def _with_loan(ranked: Ranked, loan: float) -> Ranked:
    if not loan:
        return ranked
    return ranked._replace(strength=ranked.strength + loan, lent=ranked.lent + loan)


def _loans(project_id: int, lenders: Sequence[Ranked]) -> dict[Key, float]:
    """Return the loan of each object: the highest share of any neighbour."""
    loans: dict[Key, float] = {}
    for noun in registry.searched_nouns():
        strengths = {
            one.candidate.object_id: one.strength for one in lenders if one.candidate.kind == noun.kind
        }
        if not noun.turns or not strengths:
            continue
        for lender, shares in noun.turns(project_id, list(strengths)).items():
            for other, share in shares.items():
                key = noun.kind, other
                loans[key] = max(loans.get(key, 0.0), share * strengths[lender])
    return loans


def _matching(project_id: int, keys: Sequence[Key], narrowing: Narrowing, query: Query) -> list[Candidate]:
    """Return the candidates for these objects that match the filters and no excluded term."""
    found = [
        candidate
        for kind in dict.fromkeys(kind for kind, _ in keys)
        for candidate in read_beginnings(project_id, kind, [row for known, row in keys if known == kind])
    ]
    return [one for one in found if _is_within(one, narrowing) and not _is_excluded(one, query)]


def _is_within(candidate: Candidate, narrowing: Narrowing) -> bool:
    scope_words = set(candidate.scope.split())
    is_new_enough = narrowing.since is None or candidate.updated_at >= narrowing.since
    return is_new_enough and all(not scope_words.isdisjoint(words) for words in narrowing.scope)


def _is_excluded(candidate: Candidate, query: Query) -> bool:
    return any(occurrences(candidate.words, term) for term in query.excluded)


def _key(ranked: Ranked) -> Key:
    return ranked.candidate.kind, ranked.candidate.object_id
