"""Semantic similarity, an optional extra: `pip install ctxhub[semantic]` and CTXHUB_SEMANTIC_SEARCH=true.

Uses static English word vectors from the package wordllama; nothing is downloaded. They only reorder the hits
of the text search: alone they find less (0.37 against 0.63 of the answers among the first ten).
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from ctxhub.core.search.ranking import Ranked

if TYPE_CHECKING:
    from wordllama.inference import WordLlamaInference

# How many of the best hits are reordered, and the weight of similarity relative to their scores.
DEPTH = 50
WEIGHT = 0.5
READ_CHARACTERS = 2_000


def is_on() -> bool:
    return bool(settings.SEMANTIC_SEARCH)


def order(query: str, ranked: Sequence[Ranked], texts: Sequence[str]) -> list[Ranked]:
    """Sort hits, with their `texts`, by the weighted mean of score and similarity: the new score, 0 to 1."""
    if not ranked:
        return []
    best = max(one.score for one in ranked) or 1.0
    similarities = _similarity(query, texts)
    scored = [
        one._replace(strength=(one.score / best + WEIGHT * max(similarity, 0.0)) / (1 + WEIGHT))
        for one, similarity in zip(ranked, similarities, strict=True)
    ]
    return sorted(scored, key=lambda one: -one.strength)


def _similarity(query: str, texts: Sequence[str]) -> list[float]:
    """Return the cosine similarities of the query and each text, -1 to 1."""
    vectors = load().embed([query, *(text[:READ_CHARACTERS] for text in texts)], norm=True)
    return [float(cosine) for cosine in vectors[1:] @ vectors[0]]


@cache
def load() -> "WordLlamaInference":
    """Load the model; without `cache_dir` it would download. Raises ImportError if the extra is missing."""
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
