"""Conversations: a hit adds a share of its score to its neighbours (replies, messages before and after)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core import registry
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.candidates import Candidate, read_beginnings_of
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.ranking import Ranked, occurrences, rank

REPLY = 0.6
BESIDE = (0.2, 0.1)
QUESTION_MARKS = ("?", "\uff1f", "\u061f")


@frozen
class Turn:
    """One message: its last characters, and the ids of its neighbours, the nearest first."""

    ending: str
    following: Sequence[int | None]
    before: Sequence[int | None]
    replies: Sequence[int] = ()

    @property
    def asks(self) -> bool:
        return self.ending.rstrip(" \n\t)\"'»”*_").endswith(QUESTION_MARKS)


def shares_of(turn: Turn) -> Mapping[int, float]:
    """Return shares by id: most for a reply, or the message after a question; less with distance."""
    shares = dict.fromkeys(turn.replies, REPLY)
    for side in (turn.following, turn.before):
        for other, share in zip(side, BESIDE, strict=False):
            if other is not None:
                shares[other] = max(shares.get(other, 0.0), share)
    if turn.asks and turn.following and turn.following[0] is not None:
        shares[turn.following[0]] = REPLY
    return shares


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
    found = _turns_of(project_id, ranked[:LENDERS])
    loans = _loans(ranked[:LENDERS], found)
    # By ref: a thing that is found as it was is not shown a second time.
    known = {one.candidate.ref for one in ranked}
    # If all words must match, a neighbour without them is no hit.
    beginnings = {(one.kind, one.object_id): one for _, _, one in found if one}
    unknown = [] if query.needs_all else [each for each in beginnings.values() if each.ref not in known]
    new = [one for one in unknown if _is_within(one, narrowing) and not _is_excluded(one, query)]
    borrowed = [_with_loan(one, loans.get(_key(one), 0.0)) for one in [*ranked, *rank(new, weights)]]
    return sorted(borrowed, key=lambda one: -one.strength) if loans else list(ranked)


def _with_loan(ranked: Ranked, loan: float) -> Ranked:
    if not loan:
        return ranked
    return ranked._replace(strength=ranked.strength + loan, lent=ranked.lent + loan, is_turn=True)


def _turns_of(
    project_id: int, lenders: Sequence[Ranked]
) -> list[tuple[Key, tuple[str, int, int], Candidate | None]]:
    """Return for each neighbour of each of these objects the key of the object; ending, place and id as
    `Noun.turns` has them; and the first passage of the neighbour if it is in the index.
    """
    parts: list[str] = []
    values: list[Any] = []
    for noun in registry.searched_nouns():
        ids = [one.candidate.object_id for one in lenders if one.candidate.kind == noun.kind]
        if noun.turns and ids:
            statement, asked = noun.turns(project_id, ids)
            parts.append(f"SELECT '{noun.kind}' AS kind, {noun.kind}.* FROM ({statement}) {noun.kind}")
            values += asked
    return read_beginnings_of(project_id, " UNION ALL ".join(parts), values) if parts else []


def _loans(
    lenders: Sequence[Ranked], found: Sequence[tuple[Key, tuple[str, int, int], Candidate | None]]
) -> dict[Key, float]:
    """Return the loan of each object: the highest share of any neighbour."""
    strengths = {_key(one): one.strength for one in lenders}
    endings: dict[Key, str] = {}
    places: dict[Key, dict[int, list[int]]] = {}
    for lender, (ending, place, other), _ in found:
        endings[lender] = endings.get(lender) or ending
        places.setdefault(lender, {}).setdefault(place, []).append(other)
    loans: dict[Key, float] = {}
    for lender, at in places.items():
        kind, _ = lender
        following, before = ([at.get(side * n, [None])[0] for n in (1, 2)] for side in (1, -1))
        turn = Turn(endings[lender], following, before, at.get(0, []))
        for other, share in shares_of(turn).items():
            key = kind, other
            loans[key] = max(loans.get(key, 0.0), share * strengths[lender])
    return loans


def _is_within(candidate: Candidate, narrowing: Narrowing) -> bool:
    scope_words = set(candidate.scope.split())
    is_new_enough = narrowing.since is None or candidate.updated_at >= narrowing.since
    return is_new_enough and all(not scope_words.isdisjoint(words) for words in narrowing.scope)


def _is_excluded(candidate: Candidate, query: Query) -> bool:
    return any(occurrences(candidate.words, term) for term in query.excluded)


def _key(ranked: Ranked) -> Key:
    return ranked.candidate.kind, ranked.candidate.object_id
