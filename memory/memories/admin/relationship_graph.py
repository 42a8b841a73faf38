"""Builds a tree to draw from the neighbours of an object and their own neighbours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.memories.models.relationship import Relation

NEAR_DRAWN = 12
FAR_DRAWN = 3
# The relation without a direction; it does not decide the side on which a neighbour is drawn.
MUTUAL = Relation.RELATED.label


@dataclass(frozen=True, slots=True)
class Node:
    """An object. `kind` is the label below its title, `url` its page."""

    ref: str
    title: str
    kind: str
    icon: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship between two refs; not stored yet if `is_suggested`."""

    source: str
    target: str
    relation: str
    strength: int
    is_suggested: bool = False

    @property
    def words(self) -> str:
        return worded(self.relation)


@dataclass(frozen=True, slots=True)
class Tie:
    """All links between two objects, the strongest first. They are drawn as one line."""

    links: Sequence[Link]

    @property
    def strongest(self) -> Link:
        return self.links[0]

    @property
    def is_suggested(self) -> bool:
        return self.strongest.is_suggested

    def leads_to(self, ref: str) -> bool:
        return any(link.target == ref for link in self.links)

    def other_than(self, ref: str) -> str:
        link = self.strongest
        return link.target if link.source == ref else link.source

    def side_of(self, ref: str) -> int:
        """-1: all directed links lead to this object; 1: all lead away from it; 0: both or neither."""
        directed = [link for link in self.links if link.relation != MUTUAL]
        to, away = any(link.target == ref for link in directed), any(link.source == ref for link in directed)
        return int(away) - int(to)


@dataclass(frozen=True, slots=True)
class Branch:
    """An object, the tie to its parent, and its children; `more` counts the children left out."""

    node: Node
    tie: Tie
    children: Sequence["Branch"] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """`crossing`: further ties between drawn objects; `left_out`: the number of neighbours not drawn."""

    centre: Node
    branches: Sequence[Branch]
    crossing: Sequence[Tie] = ()
    left_out: int = 0


def worded(relation: str) -> str:
    """A relation as English words, such as "depends on"."""
    return relation.replace("_", " ")


def graph_of(centre: str, nodes: Mapping[str, Node], links: Iterable[Link]) -> Graph:
    """The strongest ties of an object and of its neighbours; each object is drawn once."""
    ties = list(_tied(links))
    near = [tie for tie in ties if centre in _ends(tie)]
    drawn = {tie.other_than(centre): tie for tie in near[:NEAR_DRAWN]}
    placed, used = {centre, *drawn}, {id(tie) for tie in near}
    further: dict[str, list[Tie]] = {ref: [] for ref in drawn}
    for tie in ties:
        parent = next((ref for ref in _ends(tie) if ref in further), None)
        if id(tie) in used or parent is None or (ref := tie.other_than(parent)) in placed:
            continue
        further[parent].append(tie)
        placed.add(ref)
        used.add(id(tie))
    branches = [_branch(ref, tie, nodes, further[ref]) for ref, tie in drawn.items()]
    shown = {centre, *(b.node.ref for branch in branches for b in (branch, *branch.children))}
    crossing = [tie for tie in ties if id(tie) not in used and shown.issuperset(_ends(tie))]
    return Graph(nodes[centre], branches, crossing, len(near) - len(drawn))


def _branch(ref: str, tie: Tie, nodes: Mapping[str, Node], ties: Sequence[Tie]) -> Branch:
    children = [Branch(nodes[far], each) for each in ties[:FAR_DRAWN] for far in [each.other_than(ref)]]
    return Branch(nodes[ref], tie, children, len(ties) - len(children))


def _tied(links: Iterable[Link]) -> Iterator[Tie]:
    """The ties of all linked pairs; stored links before suggested ones, the strongest first."""
    found: dict[frozenset[str], list[Link]] = {}
    for link in sorted(links, key=lambda link: (link.is_suggested, -link.strength)):
        found.setdefault(frozenset((link.source, link.target)), []).append(link)
    return (Tie(links) for links in found.values())


def _ends(tie: Tie) -> tuple[str, str]:
    return tie.strongest.source, tie.strongest.target
