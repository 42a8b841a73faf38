"""Orders what the engines have found, by BM25 over the project's own words: the same on both of them.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxhub.core.search.engines import Candidate
from ctxhub.core.search.queries import Term

K1 = 1.2
B = 0.6
OVER_WORTH = 0.6
# What the passage before or after lends of its score: what is said there belongs to this.
NEXT_PASSAGE = 0.2


Counter = tuple[Sequence[str], float]
"""How a term, or one that stands for it, is written; and how much that counts."""


class Ranked(NamedTuple):
    """A candidate with how well it answers, and what each term found in it has added.

    `strength` orders; the `score` that is told ends at 1.0. `lent` is what of it a neighbour has lent, and
    `prior` what it was multiplied by for its kind.
    """

    candidate: Candidate
    strength: float
    parts: Mapping[Term, float]
    lent: float = 0.0
    prior: float = 1.0

    @property
    def score(self) -> float:
        return min(self.strength, 1.0)


def worth(total: int, frequency: int) -> float:
    """What a term says that is in `frequency` of `total` passages: the rarer, the more."""
    total = max(total, frequency)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def rank(candidates: Sequence[Candidate], weights: Mapping[Term, float]) -> list[Ranked]:
    """Each thing once, by its best passage and what the one beside it lends; best first, newest first.

    A score of 1.0 says that every term is there about as often as in a text of average length; more is not
    told apart. What is not in force counts OVER_WORTH of what it would.
    """
    if not candidates:
        return []
    average = sum(candidate.size for candidate in candidates) / len(candidates) or 1
    best = max(sum(weights.values()), 1e-9)
    asked = [(term, weight, _counters(term)) for term, weight in weights.items()]
    scored = [(candidate, _parts(candidate, asked, average)) for candidate in candidates]
    own = {(one.entry_id, one.part): sum(parts.values()) for one, parts in scored}
    found: dict[str, tuple[float, Ranked]] = {}
    earlier: dict[str, tuple[float, Ranked]] = {}
    for candidate, parts in scored:
        entry, part = candidate.entry_id, candidate.part
        lent = NEXT_PASSAGE * max(own.get((entry, part - 1), 0.0), own.get((entry, part + 1), 0.0))
        score = own[entry, part] + lent
        among = earlier if candidate.is_earlier else found
        if candidate.ref not in among or score > among[candidate.ref][0]:
            among[candidate.ref] = score, Ranked(candidate, score / best, parts, lent / best)
    found |= {ref: was for ref, was in earlier.items() if ref not in found or _says_more(was, found[ref])}
    ordered = sorted(found.values(), key=lambda one: (one[0], one[1].candidate.updated_at), reverse=True)
    return [ranked for _, ranked in ordered]


def _says_more(was: tuple[float, Ranked], now: tuple[float, Ranked]) -> bool:
    """Whether an earlier state answers better, and by a word that its thing has no longer."""
    return was[0] > now[0] and not was[1].parts.keys() <= now[1].parts.keys()


def occurrences(words: str, term: Term) -> int:
    """How often a term is in some words, or what stands for it."""
    times, _ = _occurrences(_set_apart(words), _counters(term))
    return times


def _parts(
    candidate: Candidate, asked: Sequence[tuple[Term, float, Sequence[Counter]]], average: float
) -> dict[Term, float]:
    text = _set_apart(candidate.words)
    length = K1 * (1 - B + B * candidate.size / average)
    force = OVER_WORTH if candidate.is_over else 1.0
    parts = {}
    for term, weight, counters in asked:
        times, share = _occurrences(text, counters)
        if times:
            parts[term] = force * weight * share * times * (K1 + 1) / (times + length)
    return parts


def _occurrences(text: str, counters: Sequence[Counter]) -> tuple[int, float]:
    """Of the term itself, or of the first that stands for it and is there; and how much each counts."""
    # Most of a ranking's time goes by here: a call for each pattern would double it.
    for patterns, share in counters:
        times = 0
        for pattern in patterns:
            times += text.count(pattern)
        if times:
            return times, share
    return 0, 0.0


def _set_apart(words: str) -> str:
    """Words each with a blank of its own on both sides, so that neighbours can be counted."""
    return f" {words.replace(' ', '  ')} "


def _counters(term: Term) -> Sequence[Counter]:
    also = sorted(term.also, key=lambda other: -other.weight)
    return [(_patterns(term), 1.0), *((_patterns(other), other.weight) for other in also)]


def _patterns(term: Term) -> Sequence[str]:
    end = "" if term.prefix else " "
    return [f" {'  '.join(words)}{end}" for words in term.spellings]
