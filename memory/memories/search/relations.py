"""What two things may have to do with one another, by their words."""

from collections.abc import Set
from dataclasses import dataclass

from memory.memories.models.relationship import Relation
from memory.memories.search.similarity import jaccard, long_words

TITLE, CONTENT = 0.3, 0.7
INCLUDES, REFERENCES = 0.7, 0.5


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a title and of what is below it."""

    title: Set[str]
    content: Set[str]

    @classmethod
    def of(cls, title: str, content: str) -> "Said":
        return cls(long_words(title), long_words(content))


def similarity(one: Said, other: Said) -> float:
    """0..1: what the titles have in common counts TITLE, what the contents have, CONTENT."""
    return TITLE * jaccard(one.title, other.title) + CONTENT * jaccard(one.content, other.content)


def relation_of(score: float) -> Relation:
    """What so much in common is called; that one depends on another, or blocks it, nobody can count."""
    if score >= INCLUDES:
        return Relation.INCLUDES
    return Relation.REFERENCES if score >= REFERENCES else Relation.RELATED


def strength_of(score: float) -> int:
    return round(100 * score)
