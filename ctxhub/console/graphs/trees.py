"""Trees to draw: an object with its neighbours and theirs; each object is drawn once."""

from collections.abc import Iterable, Iterator, Sequence

from ctxhub.core.kit.frozen import frozen


@frozen
class Node:
    """An object. `kind` is the label below its title, `url` its page."""

    ref: str
    title: str
    kind: str
    icon: str
    url: str | None


@frozen
class GraphLink:
    """A relationship between two refs. `strength`: from 0 to 100; `is_suggested`: not stored yet.

    `verb`: the words on its line; without them they are those of the relation.
    """

    source: str
    target: str
    relation: str
    strength: int | None = None
    is_suggested: bool = False
    verb: str = ""

    @property
    def words(self) -> str:
        return self.verb or worded(self.relation)


@frozen
class Tie:
    """All links between two objects, the strongest first. They are drawn as one line."""

    links: Sequence[GraphLink]

    @property
    def strongest(self) -> GraphLink:
        return self.links[0]

    @property
    def is_suggested(self) -> bool:
        return self.strongest.is_suggested

    def leads_to(self, ref: str) -> bool:
        return any(link.target == ref for link in self.links)

    def other_than(self, ref: str) -> str:
        link = self.strongest
        return link.target if link.source == ref else link.source

    @property
    def ends(self) -> tuple[str, str]:
        return self.strongest.source, self.strongest.target


@frozen
class Branch:
    """An object, the tie to its parent, and its children; `more` counts the children left out."""

    node: Node
    tie: Tie
    children: Sequence["Branch"] = ()
    more: int = 0


@frozen
class Graph:
    """`crossing`: further ties between drawn objects; `left_out`: the number of neighbours not drawn."""

    centre: Node
    branches: Sequence[Branch]
    crossing: Sequence[Tie] = ()
    left_out: int = 0


def worded(relation: str) -> str:
    """A relation as English words, such as "depends on"."""
    return relation.replace("_", " ")


def ties_of(links: Iterable[GraphLink]) -> Iterator[Tie]:
    """The ties of all linked pairs; stored links before suggested ones, the strongest first."""
    found: dict[frozenset[str], list[GraphLink]] = {}
    for link in sorted(links, key=lambda link: (link.is_suggested, -(link.strength or 0))):
        found.setdefault(frozenset((link.source, link.target)), []).append(link)
    return (Tie(links) for links in found.values())
