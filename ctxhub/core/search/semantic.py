"""Likeness of meaning, an optional extra: `pip install ctxhub[semantic]` and CTXHUB_SEMANTIC_SEARCH=true.

Static English word vectors that lie in the package of wordllama; nothing is fetched. They only order what the
words have found: alone they find less than the words do (0.37 against 0.63 of the answers among ten).
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from ctxhub.core.search.ranking import Ranked

if TYPE_CHECKING:
    from wordllama.inference import WordLlamaInference

# How many of the best are looked at, and what likeness counts beside their scores.
DEPTH = 50
WEIGHT = 0.5
READ_CHARACTERS = 2_000


def is_on() -> bool:
    return bool(settings.SEMANTIC_SEARCH)


def order(query: str, ranked: Sequence[Ranked], texts: Sequence[str]) -> list[Ranked]:
    """The ranked ones, `texts` being theirs, by score and likeness added; the sum is their score, 0..1."""
    if not ranked:
        return []
    best = max(one.score for one in ranked) or 1.0
    like = _similarity(query, texts)
    scored = [
        one._replace(strength=(one.score / best + WEIGHT * max(similarity, 0.0)) / (1 + WEIGHT))
        for one, similarity in zip(ranked, like, strict=True)
    ]
    return sorted(scored, key=lambda one: -one.strength)


def _similarity(query: str, texts: Sequence[str]) -> list[float]:
    """Cosines, -1 to 1."""
    vectors = load().embed([query, *(text[:READ_CHARACTERS] for text in texts)], norm=True)
    return [float(cosine) for cosine in vectors[1:] @ vectors[0]]


@cache
def load() -> "WordLlamaInference":
    """Raises ImportError where the extra is not installed. Without the folder it would ask the network."""
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
