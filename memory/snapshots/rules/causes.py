"""How far snapshots are from one another along their causes and dependencies."""

from collections.abc import Mapping, Sequence

CAUSED_BY, DEPENDS_ON = "caused_by", "depends_on"
DEPTH = 100

Ways = Mapping[tuple[int, str], Sequence[int]]
"""The snapshots next to one, by its id and the kind of the link."""


def distances(start: int, ways: Ways) -> dict[int, tuple[int, str]]:
    """The number of steps from `start` to each snapshot, and the kind of the last one; without the start.

    Counted along causes where these alone lead there, else the fewest. Dependencies are found automatically:
    by the fewest steps nearly all that an agent did in an hour would be one step away.
    """
    found = {**_walk(start, ways, (CAUSED_BY, DEPENDS_ON)), **_walk(start, ways, (CAUSED_BY,))}
    return {other: step for other, step in found.items() if other != start}


def _walk(start: int, ways: Ways, kinds: Sequence[str]) -> dict[int, tuple[int, str]]:
    found = {start: (0, "")}
    level, distance = [start], 0
    while level:
        distance += 1
        following: list[int] = []
        for kind in kinds:
            for here in level:
                new = [other for other in ways.get((here, kind), ()) if other not in found]
                found |= dict.fromkeys(new, (distance, kind))
                following += dict.fromkeys(new)
        level = following
    return found
