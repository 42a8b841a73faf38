"""What is around a thing, as a tree that can be drawn: its neighbours, and behind each of them its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.memories.models.relationship import Relation

NEAR_DRAWN = 12
FAR_DRAWN = 3
# What a relation says in one direction alone: the others are drawn where there is room.
MUTUAL = Relation.RELATED.label


@dataclass(frozen=True, slots=True)
class Node:
    """A thing. `kind` is what it is called below its title, `url` its page."""

    ref: str
    title: str
    kind: str
    icon: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship, by the refs of its ends; one that `is_suggested` is none yet."""

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
    """All the links between two things, the strongest first: they are drawn as one line."""

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
        """-1: it only leads to this thing, 1: only away from it, 0: both, or neither."""
        said = [link for link in self.links if link.relation != MUTUAL]
        to, away = any(link.target == ref for link in said), any(link.source == ref for link in said)
        return int(away) - int(to)


@dataclass(frozen=True, slots=True)
class Branch:
    """A thing with the tie by which it hangs on another, and what hangs on it. `more` are left out."""

    node: Node
    tie: Tie
    children: Sequence["Branch"] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """`crossing` ties join what is drawn a second time; `left_out` neighbours are not drawn."""

    centre: Node
    branches: Sequence[Branch]
    crossing: Sequence[Tie] = ()
    left_out: int = 0


def worded(relation: str) -> str:
    """A relation as people write it: depends on."""
    return relation.replace("_", " ")


def graph_of(centre: str, nodes: Mapping[str, Node], links: Iterable[Link]) -> Graph:
    """The strongest ties of a thing, and of each of its neighbours; each thing stands in it once."""
    ties = list(_tied(links))
    near = [tie for tie in ties if centre in _ends(tie)]
    drawn = {tie.other_than(centre): tie for tie in near[:NEAR_DRAWN]}
    placed, used = {centre, *drawn}, {id(tie) for tie in near}
    behind: dict[str, list[Tie]] = {ref: [] for ref in drawn}
    for tie in ties:
        by = next((ref for ref in _ends(tie) if ref in behind), None)
        if id(tie) in used or by is None or (ref := tie.other_than(by)) in placed:
            continue
        behind[by].append(tie)
        placed.add(ref)
        used.add(id(tie))
    branches = [_branch(ref, tie, nodes, behind[ref]) for ref, tie in drawn.items()]
    shown = {centre, *(b.node.ref for branch in branches for b in (branch, *branch.children))}
    crossing = [tie for tie in ties if id(tie) not in used and shown.issuperset(_ends(tie))]
    return Graph(nodes[centre], branches, crossing, len(near) - len(drawn))


def _branch(ref: str, tie: Tie, nodes: Mapping[str, Node], behind: Sequence[Tie]) -> Branch:
    children = [Branch(nodes[far], each) for each in behind[:FAR_DRAWN] for far in [each.other_than(ref)]]
    return Branch(nodes[ref], tie, children, len(behind) - len(children))


def _tied(links: Iterable[Link]) -> Iterator[Tie]:
    """The links by the two things they join; what is said before what is suggested, the strongest first."""
    found: dict[frozenset[str], list[Link]] = {}
    for link in sorted(links, key=lambda link: (link.is_suggested, -link.strength)):
        found.setdefault(frozenset((link.source, link.target)), []).append(link)
    return (Tie(links) for links in found.values())


def _ends(tie: Tie) -> tuple[str, str]:
    return tie.strongest.source, tie.strongest.target
