"""Scores how similar a decision is to a request, from 0 to 100. No database access.

A request has up to four parts: tags, a layer, a key, a text. Each has a similarity 0..1 and a weight:

    tags 40     |common tags| / |tags of either|  (Jaccard: having many tags is no advantage)
    text 40     the search score: the share of the query's words that occur, rare words weighted higher
    layer 25    equal or not
    key 20      by words and path: see key_similarity

The weights of the parts in the request are scaled to a sum of 90. If any part is similar, recency adds 10
points for a change in the last 30 days, 5 in 90 days, 2 in 180 days. So every request can reach 100, and no
decision is suggested only because it is new.

Source: sqlew 3.9 (tags 40 by their number, layer 25, key 20, recency 10, priority 5).
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from math import floor

from ctxhub.core.kit.frozen import frozen

WEIGHTS = {"tags": 40, "layer": 25, "key": 20, "text": 40}
WEIGHT_SUM = 90
RECENCY = ((timedelta(days=30), 10), (timedelta(days=90), 5), (timedelta(days=180), 2))


@frozen
class Score:
    """`points` 0..100; `parts` holds the points of each part and omits parts of 0. `exact`: not rounded."""

    points: int
    exact: float
    parts: Mapping[str, float]


def score(similarities: Mapping[str, float], age: timedelta) -> Score:
    """Score a decision; `similarities` holds 0..1 for each part of the request."""
    weight = sum(WEIGHTS[part] for part in similarities)
    parts = {
        part: WEIGHT_SUM * WEIGHTS[part] * share / weight for part, share in similarities.items() if share
    }
    if parts and (recency := next((points for within, points in RECENCY if age <= within), 0)):
        parts["recency"] = recency
    exact = sum(parts.values())
    points = floor(round(exact, 6) + 0.5)  # Rounds halves up, despite floating-point error.
    return Score(points, exact, {part: round(points, 1) for part, points in parts.items()})


def jaccard_index(some: Collection[str], others: Collection[str]) -> float:
    """Return the Jaccard index: the size of the intersection divided by the size of the union."""
    either = {*some, *others}
    return len({*some} & {*others}) / len(either) if either else 0.0
