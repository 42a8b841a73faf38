"""Finds the tags of a project that a text is about."""

from collections.abc import Sequence, Set
from functools import lru_cache

from ctxhub.core.kit import sql
from ctxhub.core.search.selectors.spread import read_spread
from ctxhub.core.search.similarity import Rarity, count_words, vector

TAGS = 5
# Tags that are looked at, the oldest first.
MOST_TAGS = 5_000
# Snapshots in the sample that the rarity of words is computed from.
SPREAD = 200


def find_tags(project_id: int, text: str) -> list[str]:
    """At most 5 tags whose words all stand in the text; those of the highest TF-IDF, best first."""
    counts = count_words(text)
    stems = {name: _stems(name) for name in _names(project_id)}
    found = [name for name, words in stems.items() if words and words <= counts.keys()]
    if len(found) <= TAGS:
        return found
    weights = vector(counts, Rarity.of_texts(read_spread(project_id, "snapshot", SPREAD))).weights
    return sorted(found, key=lambda name: (-_mean([weights[word] for word in stems[name]]), name))[:TAGS]


def _names(project_id: int) -> list[str]:
    rows = sql.rows(
        "SELECT name FROM core_tag WHERE project_id = %s ORDER BY id LIMIT %s", [project_id, MOST_TAGS]
    )
    return [name for (name,) in rows]


@lru_cache(MOST_TAGS)
def _stems(name: str) -> Set[str]:
    return frozenset(count_words(name))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
