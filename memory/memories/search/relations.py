"""Derives the relation and its strength between two objects from the words they share."""

from collections.abc import Set

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.similarity import jaccard, long_words
from memory.memories.models.relationship import Relation

TITLE, CONTENT = 0.3, 0.7
INCLUDES, REFERENCES = 0.7, 0.5


@frozen
class WordSets:
    """The words of a title and of the content below it."""

    title: Set[str]
    content: Set[str]

    @classmethod
    def of(cls, title: str, content: str) -> "WordSets":
        return cls(long_words(title), long_words(content))


def similarity(one: WordSets, other: WordSets) -> float:
    """0..1: the Jaccard index of the titles, weighted TITLE, plus that of the contents, weighted CONTENT."""
    return TITLE * jaccard(one.title, other.title) + CONTENT * jaccard(one.content, other.content)


def relation_of(score: float) -> Relation:
    """The relation for a score. `depends_on` and `blocks` cannot be derived from words."""
    if score >= INCLUDES:
        return Relation.INCLUDES
    return Relation.REFERENCES if score >= REFERENCES else Relation.RELATED


def strength_of(score: float) -> int:
    return round(100 * score)
