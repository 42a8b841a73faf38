"""Chooses what is drawn around a snapshot: the nearest of what led to it, or of what rests on it."""

from collections.abc import Collection, Iterator, Sequence

from ctxhub.core.kit.frozen import frozen
from memory.snapshots.rules.causes import CAUSED_BY, DEPENDS_ON, Ways

# How many neighbours of one snapshot are drawn, by the steps that they are away.
WIDTHS = (8, 4, 3)
MOST_DRAWN = 20


@frozen
class Twig:
    """A snapshot, the kind of its link to its parent, and its children."""

    id: int
    link: str
    children: Sequence["Twig"]


def grow(start: int, ways: Ways, placed: Collection[int] = ()) -> list[Twig]:
    """The tree of at most 20 snapshots around one, up to 3 steps away, causes before dependencies.

    Each is drawn once, by the fewest steps; none that is `placed` elsewhere.
    """
    drawn, below = {start, *placed}, _Children()
    level = [start]
    for width in WIDTHS:
        following: list[int] = []
        for here in level:
            room = min(width, MOST_DRAWN - below.count)
            new = [pair for pair in _next(here, ways) if pair[0] not in drawn][:room]
            below.add(here, new)
            drawn.update(other for other, _ in new)
            following += [other for other, _ in new]
        level = following
    return below.twigs(start)


def ids_of(twigs: Sequence[Twig]) -> Iterator[int]:
    """The ids of a tree."""
    for twig in twigs:
        yield twig.id
        yield from ids_of(twig.children)


class _Children:
    def __init__(self) -> None:
        self.count = 0
        self.of: dict[int, list[tuple[int, str]]] = {}

    def add(self, parent: int, children: list[tuple[int, str]]) -> None:
        self.of[parent] = children
        self.count += len(children)

    def twigs(self, parent: int) -> list[Twig]:
        return [Twig(child, link, self.twigs(child)) for child, link in self.of.get(parent, ())]


def _next(here: int, ways: Ways) -> list[tuple[int, str]]:
    """The neighbours of a snapshot, each once, with the kind of the link."""
    found: dict[int, str] = {}
    for kind in (CAUSED_BY, DEPENDS_ON):
        for other in ways.get((here, kind), ()):
            found.setdefault(other, kind)
    return list(found.items())
