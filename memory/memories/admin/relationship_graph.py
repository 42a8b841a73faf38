"""Builds a tree to draw from the neighbours of an object and their own neighbours."""

from collections.abc import Iterable, Mapping, Sequence

from ctxhub.core.admin.graphs.layout import rows_of
from ctxhub.core.admin.graphs.trees import Branch, Graph, Link, Node, Tie, ties_of
from memory.memories.models.relationship import Relation

NEAR_DRAWN = 12
FAR_DRAWN = 3
# The relation without a direction; it does not decide the side on which a neighbour is drawn.
MUTUAL = Relation.RELATED.label


def graph_of(centre: str, nodes: Mapping[str, Node], links: Iterable[Link]) -> Graph:
    """The strongest ties of an object and of its neighbours; each object is drawn once."""
    ties = list(ties_of(links))
    near = [tie for tie in ties if centre in tie.ends]
    drawn = {tie.other_than(centre): tie for tie in near[:NEAR_DRAWN]}
    placed, used = {centre, *drawn}, {id(tie) for tie in near}
    further: dict[str, list[Tie]] = {ref: [] for ref in drawn}
    for tie in ties:
        parent = next((ref for ref in tie.ends if ref in further), None)
        if id(tie) in used or parent is None or (ref := tie.other_than(parent)) in placed:
            continue
        further[parent].append(tie)
        placed.add(ref)
        used.add(id(tie))
    branches = [_branch(ref, tie, nodes, further[ref]) for ref, tie in drawn.items()]
    shown = {centre, *(b.node.ref for branch in branches for b in (branch, *branch.children))}
    crossing = [tie for tie in ties if id(tie) not in used and shown.issuperset(tie.ends)]
    return Graph(nodes[centre], branches, crossing, len(near) - len(drawn))


def _branch(ref: str, tie: Tie, nodes: Mapping[str, Node], ties: Sequence[Tie]) -> Branch:
    children = [Branch(nodes[far], each) for each in ties[:FAR_DRAWN] for far in [each.other_than(ref)]]
    return Branch(nodes[ref], tie, children, len(ties) - len(children))


def sides_of(graph: Graph) -> tuple[Sequence[Branch], Sequence[Branch]]:
    """The branches sorted by direction and divided so that both sides have about the same height."""
    ordered = sorted(graph.branches, key=lambda branch: _side(branch.tie, graph.centre.ref))
    sides = [_side(branch.tie, graph.centre.ref) for branch in ordered]

    def imbalance(cut: int) -> tuple[int, int]:
        misplaced = sum(side > 0 for side in sides[:cut]) + sum(side < 0 for side in sides[cut:])
        return abs(rows_of(ordered[:cut]) - rows_of(ordered[cut:])), misplaced

    cut = min(range(len(ordered) + 1), key=imbalance)
    return ordered[:cut], ordered[cut:]


def _side(tie: Tie, ref: str) -> int:
    """-1: all directed links lead to this object; 1: all lead away from it; 0: both or neither."""
    directed = [link for link in tie.links if link.relation != MUTUAL]
    to, away = any(link.target == ref for link in directed), any(link.source == ref for link in directed)
    return int(away) - int(to)
