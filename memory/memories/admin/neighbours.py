"""What a thing has to do with others, two steps away: as a graph, and as rows to be read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q
from django.http import Http404

from ctxhub.core.admin import refs
from ctxhub.core.admin.search_hits import look_of
from ctxhub.core.hub.selectors.refs import ObjectKey
from memory.memories.admin.relationship_graph import NEAR_DRAWN, Graph, Link, Node, graph_of, worded
from memory.memories.models.relationship import Relationship
from memory.memories.selectors.relationships import find_relationships_of, read_nodes, ref_of

if TYPE_CHECKING:
    from memory.memories.rows.relationships import Edge

NEAR_READ, FAR_READ = 100, 60
# A memory is left for what the next one has to do with others.
SECTION = "relationships"
# A relation as a sentence goes on with it, from its source and from its target.
FORWARDS = {"related": "is related to"}
BACKWARDS = {
    "related": "is related to",
    "includes": "is part of",
    "references": "is referenced by",
    "depends_on": "is needed by",
    "blocks": "is blocked by",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A relationship, read from one of its ends: what that is to the `other`."""

    id: int
    other: Node
    words: str
    strength: int
    agent: str
    at: datetime
    is_found: bool


@dataclass(frozen=True, slots=True)
class Further:
    """A relationship that neither begins nor ends here."""

    source: Node
    target: Node
    words: str
    strength: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """`nodes`: all that is spoken of, by its place. `has_more`: there is more than was read."""

    nodes: Mapping[ObjectKey, Node]
    graph: Graph
    said: Sequence[Said]
    further: Sequence[Further]
    has_more: bool


def neighbours_of(
    project_id: int, centre: ObjectKey, suggested: Sequence[tuple[ObjectKey, str, int]] = ()
) -> Neighbours:
    """The strongest relationships of a thing and of its neighbours, in a number of queries that is fixed.

    `suggested`: what it may have to do with besides, how, and how strongly. The thing may have been deleted
    a moment ago: then there is no such page.
    """
    rows = _touching(project_id, centre)
    near = rows[:NEAR_READ]
    drawn = list(dict.fromkeys(_other_end(row, centre) for row in near))[:NEAR_DRAWN]
    edges = find_relationships_of(project_id, drawn, FAR_READ) if drawn else []
    far = [edge for edge in edges if centre not in (edge.source, edge.target)]
    places = [centre, *(place for place, _, _ in suggested)]
    places += [place for row in near for place in ends_of(row)]
    places += [place for edge in far for place in (edge.source, edge.target)]
    nodes = nodes_of(project_id, places)
    if centre not in nodes:
        raise Http404
    said = [_said(row, centre, nodes) for row in near if nodes.keys() >= set(ends_of(row))]
    known = [edge for edge in far if edge.source in nodes and edge.target in nodes]
    may_be = [
        Link(nodes[centre].ref, nodes[place].ref, relation, strength, is_suggested=True)
        for place, relation, strength in suggested
        if place in nodes
    ]
    links = [_near_link(row, nodes) for row in near if nodes.keys() >= set(ends_of(row))]
    links += [_far_link(edge, nodes) for edge in known]
    named = {node.ref: node for node in nodes.values()}
    return Neighbours(
        nodes=nodes,
        graph=graph_of(nodes[centre].ref, named, [*links, *may_be]),
        said=said,
        further=[_further(edge, nodes) for edge in known],
        has_more=len(rows) > NEAR_READ,
    )


def nodes_of(project_id: int, places: Iterable[ObjectKey]) -> dict[ObjectKey, Node]:
    """The things that are there, each with its title and the address of its page."""
    return {
        place: Node(
            ref_of(found.name), found.title, _kind(place, found.type), look_of(place[0]).icon, _url(place)
        )
        for place, found in read_nodes(project_id, dict.fromkeys(places)).items()
    }


def ends_of(row: Relationship) -> tuple[ObjectKey, ObjectKey]:
    return (row.source_kind, row.source_id), (row.target_kind, row.target_id)


def _touching(project_id: int, place: ObjectKey) -> list[Relationship]:
    kind, row_id = place
    is_end = Q(source_kind=kind, source_id=row_id) | Q(target_kind=kind, target_id=row_id)
    rows = Relationship.objects.in_project(project_id).filter(is_end).select_related("agent")
    return list(rows.order_by("-strength", "-updated_at", "-pk")[: NEAR_READ + 1])


def _other_end(row: Relationship, centre: ObjectKey) -> ObjectKey:
    source, target = ends_of(row)
    return target if source == centre else source


def _kind(place: ObjectKey, spoken: str) -> str:
    """A memory is called by its type, everything else as the admin calls it."""
    return spoken if place[0] == "memory" else look_of(place[0]).name


def _url(place: ObjectKey) -> str | None:
    """Without a query: the thing is there, so it has a page if its kind has pages."""
    url = refs.page_of_row(*place)
    return f"{url}#{SECTION}" if place[0] == "memory" else url


def _near_link(row: Relationship, nodes: Mapping[ObjectKey, Node]) -> Link:
    source, target = (nodes[place] for place in ends_of(row))
    return Link(source.ref, target.ref, str(row.get_relation_display()), row.strength)


def _far_link(edge: "Edge", nodes: Mapping[ObjectKey, Node]) -> Link:
    return Link(nodes[edge.source].ref, nodes[edge.target].ref, edge.relation_label, edge.strength)


def _said(row: Relationship, centre: ObjectKey, nodes: Mapping[ObjectKey, Node]) -> Said:
    word = str(row.get_relation_display())
    names = FORWARDS if ends_of(row)[0] == centre else BACKWARDS
    return Said(
        id=row.pk,
        other=nodes[_other_end(row, centre)],
        words=names.get(word, worded(word)),
        strength=row.strength,
        agent=row.agent.name if row.agent else "system",
        at=row.updated_at,
        is_found=row.is_found,
    )


def _further(edge: "Edge", nodes: Mapping[ObjectKey, Node]) -> Further:
    return Further(nodes[edge.source], nodes[edge.target], worded(edge.relation_label), edge.strength)
