"""Topics: what objects share with those that match a task best, though they have none of its words.

A kind of pseudo-relevance feedback over tags, scopes, folders and the folders of keys. Source: Manning,
Raghavan and Schütze, Introduction to Information Retrieval (2008), section 9.1.5.
"""

import math
from collections import Counter
from collections.abc import Mapping

from ctxhub.core.links import ObjectKey
from ctxhub.core.search.documents import Document

# The objects that match best, whose topics count.
BEST = 4


def topics_of(kind: str, document: Document) -> frozenset[str]:
    """The case-folded tags and scopes of an object, and the folders of its paths and of its key."""
    named = [*document.tags, *(name for names in document.unshown for name in names.split(", "))]
    parts = [part for name in named for part in name.split("/") if part and "*" not in part]
    folders = document.title.split("/")[:-1] if kind == "decision" else []
    return frozenset(part.casefold() for part in [*parts, *folders])


def shared_topics(
    topics: Mapping[ObjectKey, frozenset[str]], matches: Mapping[ObjectKey, float]
) -> dict[ObjectKey, float]:
    """How much of its topics each object shares with the best matches, 0 to 1; rare topics weigh more.

    Of equal matches the first ones count. The exact sums do not depend on the order of topics in a set.
    """
    count = Counter(topic for own in topics.values() for topic in own)
    worth = {topic: math.log(1 + len(topics) / count[topic]) for topic in count}
    best = sorted(matches, key=lambda key: -matches[key])[:BEST]
    weights: dict[str, float] = {}
    for key in best:
        for topic in topics[key]:
            weights[topic] = weights.get(topic, 0.0) + matches[key] * worth[topic]
    shared = {key: math.fsum(weights.get(topic, 0.0) for topic in own) for key, own in topics.items()}
    for key in best:
        shared[key] -= math.fsum(matches[key] * worth[topic] for topic in topics[key])
    most = max(shared.values(), default=0.0)
    return {key: max(value, 0.0) / most for key, value in shared.items()} if most > 0 else {}
