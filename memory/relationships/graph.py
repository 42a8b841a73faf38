"""The relationships of an object, up to two steps away: as a graph to draw, and as table rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q
from django.http import Http404

from ctxhub.console import refs
from ctxhub.console.graphs.layout import rows_of
from ctxhub.console.graphs.trees import Branch, Graph, GraphLink, Node, Tie, ties_of, worded
from ctxhub.console.links import section_of
from ctxhub.console.search_hits import display_of
from ctxhub.core.hub.refs import ObjectKey
from ctxhub.core.kit.frozen import frozen
from memory.relationships.models import RELATION_WORDS, Relation, Relationship
from memory.relationships.queries import find_relationships_of, read_nodes, ref_of

if TYPE_CHECKING:
    from memory.relationships.rows import Edge


NEAR_READ, FAR_READ = 100, 60
# The section of the page of a memory, and the noun, whose links it shows.
SECTION, NOUN = "relationships", "relationship"
# A relation in a sentence, from its source and from its target.
FORWARDS = {str(relation.label): words[0] for relation, words in RELATION_WORDS.items()}
BACKWARDS = {str(relation.label): words[1] for relation, words in RELATION_WORDS.items()}


@frozen
class DirectRelationship:
    """A relationship of the centre with `other`; `words` is the relation as seen from the centre."""

    id: int
    other: Node
    words: str
    strength: int
    agent: str
    agent_id: int | None
    at: datetime
    is_found: bool


@frozen
class FurtherRelationship:
    """A relationship of a neighbour that neither begins nor ends at the centre."""

    source: Node
    target: Node
    words: str
    strength: int


@frozen
class Neighbours:
    """`nodes`: all objects by kind and id; `direct`: direct relationships; `has_more`: some were not read."""

    nodes: Mapping[ObjectKey, Node]
    graph: Graph
    direct: Sequence[DirectRelationship]
    further: Sequence[FurtherRelationship]
    has_more: bool


def neighbours_of(
    project_id: int, centre: ObjectKey, suggested: Sequence[tuple[ObjectKey, str, int]] = ()
) -> Neighbours:
    """The strongest relationships of an object and of its neighbours, in a fixed number of queries.

    `suggested`: key, relation and strength of further possible relationships. Raises Http404 if the object
    was deleted meanwhile.
    """
    rows = _rows_of(project_id, centre)
    near = rows[:NEAR_READ]
    drawn = list(dict.fromkeys(_other_end(row, centre) for row in near))[:NEAR_DRAWN]
    edges = find_relationships_of(project_id, drawn, FAR_READ) if drawn else []
    far = [edge for edge in edges if centre not in (edge.source, edge.target)]
    keys = [centre, *(key for key, _, _ in suggested)]
    keys += [key for row in near for key in ends_of(row)]
    keys += [key for edge in far for key in (edge.source, edge.target)]
    nodes = nodes_of(project_id, keys)
    if centre not in nodes:
        raise Http404
    direct = [_direct(row, centre, nodes) for row in near if nodes.keys() >= set(ends_of(row))]
    known = [edge for edge in far if edge.source in nodes and edge.target in nodes]
    possible = [
        GraphLink(nodes[centre].ref, nodes[key].ref, relation, strength, is_suggested=True)
        for key, relation, strength in suggested
        if key in nodes
    ]
    links = [_near_link(row, nodes) for row in near if nodes.keys() >= set(ends_of(row))]
    links += [_far_link(edge, nodes) for edge in known]
    by_ref = {node.ref: node for node in nodes.values()}
    return Neighbours(
        nodes=nodes,
        graph=graph_of(nodes[centre].ref, by_ref, [*links, *possible]),
        direct=direct,
        further=[_further(edge, nodes) for edge in known],
        has_more=len(rows) > NEAR_READ,
    )


def nodes_of(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Node]:
    """The existing objects by key, each with its title and the URL of its page."""
    return {
        key: Node(ref_of(found.name), found.title, _kind(key, found.type), display_of(key[0]).icon, _url(key))
        for key, found in read_nodes(project_id, dict.fromkeys(keys)).items()
    }


def ends_of(row: Relationship) -> tuple[ObjectKey, ObjectKey]:
    return (row.source_kind, row.source_id), (row.target_kind, row.target_id)


def _rows_of(project_id: int, key: ObjectKey) -> list[Relationship]:
    kind, row_id = key
    is_end = Q(source_kind=kind, source_id=row_id) | Q(target_kind=kind, target_id=row_id)
    rows = Relationship.objects.in_project(project_id).filter(is_end).select_related("agent")
    return list(rows.order_by("-strength", "-updated_at", "-pk")[: NEAR_READ + 1])


def _other_end(row: Relationship, centre: ObjectKey) -> ObjectKey:
    source, target = ends_of(row)
    return target if source == centre else source


def _kind(key: ObjectKey, node_type: str) -> str:
    """The type of a memory, the admin's name for any other kind."""
    return node_type if key[0] == "memory" else display_of(key[0]).name


def _url(key: ObjectKey) -> str | None:
    """The URL of an existing object, without a query; None if its kind has no pages."""
    url = refs.page_of_row(*key)
    return f"{url}#{section_of(key[0], NOUN)}" if url else None


def _near_link(row: Relationship, nodes: Mapping[ObjectKey, Node]) -> GraphLink:
    source, target = (nodes[key] for key in ends_of(row))
    return GraphLink(source.ref, target.ref, str(row.get_relation_display()), row.strength)


def _far_link(edge: "Edge", nodes: Mapping[ObjectKey, Node]) -> GraphLink:
    return GraphLink(nodes[edge.source].ref, nodes[edge.target].ref, edge.relation_label, edge.strength)


def _direct(row: Relationship, centre: ObjectKey, nodes: Mapping[ObjectKey, Node]) -> DirectRelationship:
    word = str(row.get_relation_display())
    names = FORWARDS if ends_of(row)[0] == centre else BACKWARDS
    return DirectRelationship(
        id=row.pk,
        other=nodes[_other_end(row, centre)],
        words=names.get(word, worded(word)),
        strength=row.strength,
        agent=row.agent.name if row.agent else "system",
        agent_id=row.agent_id,
        at=row.updated_at,
        is_found=row.is_found,
    )


def _further(edge: "Edge", nodes: Mapping[ObjectKey, Node]) -> FurtherRelationship:
    return FurtherRelationship(
        nodes[edge.source], nodes[edge.target], worded(edge.relation_label), edge.strength
    )


NEAR_DRAWN = 12
FAR_DRAWN = 3
# The relation without a direction; it does not decide the side on which a neighbour is drawn.
MUTUAL = Relation.RELATED.label


def graph_of(centre: str, nodes: Mapping[str, Node], links: Iterable[GraphLink]) -> Graph:
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
