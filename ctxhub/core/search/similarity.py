"""Compares texts by their words. Source of the formulas: docs/decisions/0013-similarity.md."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.abbreviations import long_form
from ctxhub.core.search.analyser import analyse, pieces, runs
from ctxhub.core.search.documents import PARTS
from ctxhub.core.search.stop_words import STOP_WORDS

# Only this many characters from the start of a text are compared.
COMPARED_CHARACTERS = 10_000
LEAST_WORD = 3


@frozen(slots=False)
class Rarity:
    """Document frequencies in a sample: of `total` texts, `counts` gives how many have a word."""

    total: int
    counts: Mapping[str, int]

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> "Rarity":
        """`texts` are words separated by a space, as the index stores them."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(set(map(long_form, text.split(" "))))
        return cls(len(texts), counts)

    def of(self, word: str) -> float:
        """IDF, ln(1 + (N + 1) / (n + 1)): a word of all texts has a low weight, but never zero."""
        return self._weights[self.counts.get(word, 0)]

    @cached_property
    def _weights(self) -> Sequence[float]:
        return [math.log(1 + (self.total + 1) / (count + 1)) for count in range(self.total + 1)]


@frozen(slots=False)
class Vector:
    """The TF-IDF weight of each word of a text."""

    weights: Mapping[str, float]

    @cached_property
    def length(self) -> float:
        return math.sqrt(math.fsum(value * value for value in self.weights.values()))

    def cosine(self, other: "Vector") -> float:
        """1.0: the same words with the same frequencies; 0.0: none in common."""
        few, many = sorted((self.weights, other.weights), key=len)
        common = math.fsum(value * many[word] for word, value in few.items() if word in many)
        return min(common / (self.length * other.length), 1.0) if common else 0.0


def count_words(text: str) -> Counter[str]:
    """Counts of the stems, abbreviations written out. Stop words count only if there are no other words."""
    counts = Counter(map(long_form, analyse(text[:COMPARED_CHARACTERS])))
    content_words = counts.keys() - STOP_WORDS
    return Counter({word: counts[word] for word in content_words}) if content_words else counts


def vector(counts: Mapping[str, int], rarity: Rarity) -> Vector:
    """TF-IDF with TF 0.5 + 0.5 * f / max f, so that a word used ten times does not dominate the others."""
    most = max(counts.values(), default=1)
    return Vector({word: (0.5 + 0.5 * f / most) * rarity.of(word) for word, f in counts.items()})


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """The size of the intersection divided by that of the union."""
    either = set(one) | set(other)
    return len(set(one) & set(other)) / len(either) if either else 0.0


def long_words(text: str) -> set[str]:
    """Words of at least LEAST_WORD characters, unstemmed, and character pairs of scripts without spaces."""
    found: set[str] = set()
    for run in runs(text[:COMPARED_CHARACTERS]):
        for piece in pieces(run.group()):
            words: Iterable[str] = piece.words[:-1] or piece.words if piece.is_dense else [piece.surface]
            found.update(word for word in words if piece.is_dense or len(word) >= LEAST_WORD)
    return found


def read_spread(project_id: int, kind: str, at_most: int) -> list[str]:
    """The words of the first passages of at most `at_most` objects: all, or one from each range of ids."""
    first = _words(
        "SELECT id FROM core_searchentry WHERE project_id = %s AND kind = %s ORDER BY object_id LIMIT %s",
        [project_id, kind, at_most + 1],
    )
    return first if len(first) <= at_most else _read_ranges(project_id, kind, at_most)


def _read_ranges(project_id: int, kind: str, count: int) -> list[str]:
    scope = [project_id, kind]
    [(first, last)] = sql.rows(
        """
        SELECT (SELECT object_id FROM core_searchentry WHERE project_id = %s AND kind = %s
                ORDER BY object_id LIMIT 1),
            (SELECT object_id FROM core_searchentry WHERE project_id = %s AND kind = %s
                ORDER BY object_id DESC LIMIT 1)""",
        scope * 2,
    )
    asked, arguments = sql.listed([str(first + (last - first) * n // (count - 1)) for n in range(count)])
    return _words(
        f"""
        SELECT DISTINCT (
            SELECT e.id FROM core_searchentry e
            WHERE e.project_id = %s AND e.kind = %s AND e.object_id >= CAST(asked.value AS bigint)
            ORDER BY e.object_id LIMIT 1) AS id FROM {asked}""",
        [*scope, *arguments],
    )


def _words(entries: str, values: Sequence[Any]) -> list[str]:
    rows = sql.rows(
        f"""
        SELECT t.words FROM ({entries}) e CROSS JOIN core_searchtext t WHERE t.id = e.id * {PARTS}""",
        values,
    )
    return [words for (words,) in rows]
