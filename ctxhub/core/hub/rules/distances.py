"""How far objects are from one another along their links."""

from collections.abc import Mapping, Sequence

from ctxhub.core.links import Link, ObjectKey

Links = Mapping[ObjectKey, Sequence[Link]]
"""The links of each object."""


def distances(start: ObjectKey, links: Links) -> dict[ObjectKey, tuple[int, str]]:
    """The number of steps from `start` to each object, and the name of the last link; without the start.

    Counted along firm links where these alone lead there, else the fewest. Dependencies of snapshots are
    found automatically: by the fewest steps nearly all that an agent did in an hour would be one step away.
    """
    found = {**_walk(start, links, (False, True)), **_walk(start, links, (False,))}
    return {other: step for other, step in found.items() if other != start}


def _walk(start: ObjectKey, links: Links, loose: Sequence[bool]) -> dict[ObjectKey, tuple[int, str]]:
    found = {start: (0, "")}
    level, distance = [start], 0
    while level:
        distance += 1
        following: list[ObjectKey] = []
        for is_loose in loose:
            for here in level:
                for link in links.get(here, ()):
                    if link.there not in found and link.is_loose == is_loose:
                        found[link.there] = (distance, link.name)
                        following.append(link.there)
        level = following
    return found
