"""Ranks the candidates by BM25, computed in Python so that both engines give the same order.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

import math
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from ctxhub.core.kit.read_limit import checkpoint
from ctxhub.core.search.candidates import Candidate
from ctxhub.core.search.queries import Term

K1 = 1.2
B = 0.6
OVER_WORTH = 0.6
# The share of the score of the passage before or after that is added: neighbours belong together.
NEXT_PASSAGE = 0.2


Counter = tuple[Sequence[str], float]
"""The patterns of a term or of an alternative, and the share of the term's weight that a match counts."""


class Ranked(NamedTuple):
    """A candidate with its score; `parts` is what each term that it has adds to it.

    `strength` is the sort key; `score` is the same, at most 1.0, for answers. `lent`: the part of it from
    neighbours; `prior`: the factor for its kind; `is_turn`: whether a turn beside it lent some of it.
    """

    candidate: Candidate
    strength: float
    parts: Mapping[Term, float]
    lent: float = 0.0
    prior: float = 1.0
    is_turn: bool = False

    @property
    def score(self) -> float:
        return min(self.strength, 1.0)


def worth(total: int, frequency: int) -> float:
    """Return the inverse document frequency of a term that is in `frequency` of `total` passages."""
    total = max(total, frequency)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def rank(candidates: Sequence[Candidate], weights: Mapping[Term, float]) -> list[Ranked]:
    """Rank each object once, by its best passage plus a share of a neighbour's; best first, then newest.

    A score of 1.0 means that every term is there about as often as in a text of average length; scores are
    capped there. Objects that are not in force get OVER_WORTH times their score.
    """
    if not candidates:
        return []
    average = sum(candidate.size for candidate in candidates) / len(candidates) or 1
    best = max(sum(weights.values()), 1e-9)
    terms = [(term, weight, _counters(term)) for term, weight in weights.items()]
    scored = [(candidate, _parts(candidate, terms, average)) for candidate in candidates]
    own = {(candidate.entry_id, candidate.part): sum(parts.values()) for candidate, parts in scored}
    found: dict[str, tuple[float, Ranked]] = {}
    earlier: dict[str, tuple[float, Ranked]] = {}
    for candidate, parts in scored:
        entry, part = candidate.entry_id, candidate.part
        lent = NEXT_PASSAGE * max(own.get((entry, part - 1), 0.0), own.get((entry, part + 1), 0.0))
        score = own[entry, part] + lent
        best_by_ref = earlier if candidate.is_earlier else found
        if candidate.ref not in best_by_ref or score > best_by_ref[candidate.ref][0]:
            best_by_ref[candidate.ref] = score, Ranked(candidate, score / best, parts, lent / best)
    everything = {term for _, parts in scored for term in parts} if earlier else set()
    found |= {
        ref: previous
        for ref, previous in earlier.items()
        if ref not in found or _is_better_match(previous, found[ref], everything)
    }
    ordered = sorted(found.values(), key=lambda pair: (pair[0], pair[1].candidate.updated_at), reverse=True)
    return [ranked for _, ranked in ordered]


def _is_better_match(
    earlier: tuple[float, Ranked], current: tuple[float, Ranked], everything: Set[Term]
) -> bool:
    """Whether an earlier state has a term that the current one lacks, and scores higher or has everything."""
    was, now = earlier[1].parts.keys(), current[1].parts.keys()
    return not was <= now and (earlier[0] > current[0] or was >= everything)


def occurrences(words: str, term: Term) -> int:
    """Return how often a term, or its best alternative that is there, occurs in a text of words."""
    times, _ = _occurrences(f" {words} ", _counters(term))
    return times


def _parts(
    candidate: Candidate, terms: Sequence[tuple[Term, float, Sequence[Counter]]], average: float
) -> dict[Term, float]:
    checkpoint()
    text = f" {candidate.words} "
    length_norm = K1 * (1 - B + B * candidate.size / average)
    status_factor = OVER_WORTH if candidate.is_over else 1.0
    parts = {}
    for term, weight, counters in terms:
        times, share = _occurrences(text, counters)
        if times:
            parts[term] = status_factor * weight * share * times * (K1 + 1) / (times + length_norm)
    return parts


def _occurrences(text: str, counters: Sequence[Counter]) -> tuple[int, float]:
    """Count the term itself, or the first alternative that occurs; returns the count and its share."""
    # The hot loop of ranking: a function call for each pattern would double its time.
    for patterns, share in counters:
        times = 0
        for pattern in patterns:
            if found := text.count(pattern):
                times += found if pattern + pattern[1:] not in text else _side_by_side(text, pattern)
        if times:
            return times, share
    return 0, 0.0


def _side_by_side(text: str, pattern: str) -> int:
    """Count a pattern that occurs twice in a row, where both need the blank between them."""
    inner = pattern[1:-1].replace(" ", "  ")
    return text.replace(" ", "  ").count(f" {inner}{pattern[-1]}")


def _counters(term: Term) -> Sequence[Counter]:
    also = sorted(term.also, key=lambda other: -other.weight)
    return [(_patterns(term), 1.0), *((_patterns(other), other.weight) for other in also)]


def _patterns(term: Term) -> Sequence[str]:
    end = "" if term.prefix else " "
    return [f" {' '.join(words)}{end}" for words in term.spellings]
