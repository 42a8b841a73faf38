"""Reads the relationships of an object, up to two steps away, as a graph and as table rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q
from django.http import Http404

from ctxhub.core.admin import refs
from ctxhub.core.admin.graphs.trees import Graph, Link, Node, worded
from ctxhub.core.admin.links import OwnGraph, own_graphs, section_of
from ctxhub.core.admin.search_hits import display_of
from ctxhub.core.hub.selectors.refs import ObjectKey
from ctxhub.core.kit.frozen import frozen
from memory.memories.admin.relationship_graph import NEAR_DRAWN, graph_of
from memory.memories.models.relationship import RELATION_WORDS, Relationship
from memory.memories.selectors.relationships import find_relationships_of, read_nodes, ref_of

if TYPE_CHECKING:
    from memory.memories.rows.relationships import Edge

NEAR_READ, FAR_READ = 100, 60
# The section of the page of a memory, and the noun, whose links it shows.
SECTION, NOUN = "relationships", "relationship"
own_graphs["memory"] = OwnGraph(NOUN, SECTION)
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
        Link(nodes[centre].ref, nodes[key].ref, relation, strength, is_suggested=True)
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


def _near_link(row: Relationship, nodes: Mapping[ObjectKey, Node]) -> Link:
    source, target = (nodes[key] for key in ends_of(row))
    return Link(source.ref, target.ref, str(row.get_relation_display()), row.strength)


def _far_link(edge: "Edge", nodes: Mapping[ObjectKey, Node]) -> Link:
    return Link(nodes[edge.source].ref, nodes[edge.target].ref, edge.relation_label, edge.strength)


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
