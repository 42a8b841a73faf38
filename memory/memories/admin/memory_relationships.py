"""The relationships on the page of a memory: the stored ones, suggestions, and drawings."""

from collections.abc import Sequence

from django.http import Http404

from ctxhub.core.admin.graphs.layout import Drawing, tall, wide
from ctxhub.core.admin.graphs.trees import Graph, Node, worded
from ctxhub.core.hub.selectors.refs import ObjectKey, find_objects
from ctxhub.core.kit.frozen import frozen
from memory.memories.admin.neighbours import FORWARDS, Neighbours, neighbours_of
from memory.memories.admin.relationship_graph import sides_of
from memory.memories.models.memory import Memory
from memory.memories.selectors.relationships import suggest_relationships

SUGGESTED_SHOWN = 5


@frozen
class Suggestion:
    """A memory similar to this one, with a possible relation. `percent`: the similarity."""

    other: Node
    relation: str
    words: str
    strength: int
    percent: int


@frozen
class Relationships:
    neighbours: Neighbours
    suggested: Sequence[Suggestion]
    drawings: Sequence[Drawing]


def relationships_of(memory: Memory) -> Relationships:
    """Relationships of a memory, with drawings if there are any. Raises Http404 if it is deleted by now."""
    key: ObjectKey = ("memory", memory.pk)
    obj = find_objects(memory.project_id, [key]).get(key)
    if obj is None:
        raise Http404
    found = {
        ("memory", each.target): each
        for each in suggest_relationships(memory.project_id, obj, limit=SUGGESTED_SHOWN)
    }
    possible = [(other, str(each.relation.label), each.strength) for other, each in found.items()]
    neighbours = neighbours_of(memory.project_id, key, possible)
    suggested = [
        Suggestion(
            other=neighbours.nodes[other],
            relation=label,
            words=FORWARDS.get(label, worded(label)),
            strength=strength,
            percent=round(100 * found[other].score),
        )
        for other, label, strength in possible
        if other in neighbours.nodes
    ]
    return Relationships(neighbours, suggested, _drawings(neighbours.graph))


def _drawings(graph: Graph) -> list[Drawing]:
    return [wide(graph, *sides_of(graph)), tall(graph)] if graph.branches else []
