"""How much a decision is like what is asked for, as points of 100: a pure rule, no database.

What is asked for may have four parts: tags, a layer, a key, a text. Each is 0..1 alike, and counts

    tags 40     |common tags| / |tags of either|  (Jaccard: many tags are not near to everything)
    text 40     as the search scores it: the share of its words that are there, rare ones counting more
    layer 25    the same, or not
    key 20      by its words and its path: see key_likeness

scaled to 90 together for the parts that are there. Where any of them is alike, a decision that changed in the
last 30 days has 10 more, in 90 days 5, in 180 days 2. So 100 is within reach whatever is asked for, and no
decision is suggested for being new.

Source: sqlew 3.9 (tags 40 by their number, layer 25, key 20, recency 10, priority 5).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import floor

WEIGHTS = {"tags": 40, "layer": 25, "key": 20, "text": 40}
TOGETHER = 90
RECENCY = ((timedelta(days=30), 10), (timedelta(days=90), 5), (timedelta(days=180), 2))


@dataclass(frozen=True, slots=True)
class Score:
    """`points` 0..100; `parts` adds up to it, without what adds nothing."""

    points: int
    exact: float
    parts: Mapping[str, float]


def score(alike: Mapping[str, float], age: timedelta) -> Score:
    """`alike`: 0..1 for each part that is asked for, of the four."""
    asked = sum(WEIGHTS[part] for part in alike)
    parts = {part: TOGETHER * WEIGHTS[part] * share / asked for part, share in alike.items() if share}
    if parts and (recency := next((points for within, points in RECENCY if age <= within), 0)):
        parts["recency"] = recency
    exact = sum(parts.values())
    points = floor(round(exact, 6) + 0.5)  # A half is rounded up, whichever side its last bit lies.
    return Score(points, exact, {part: round(points, 1) for part, points in parts.items()})


def share_in_common(some: Collection[str], others: Collection[str]) -> float:
    """Jaccard's index: what both have, of what either has."""
    either = {*some, *others}
    return len({*some} & {*others}) / len(either) if either else 0.0
