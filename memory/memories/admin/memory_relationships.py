"""What the page of a memory shows of its relationships: said, suggested, drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from ctxhub.core.hub.selectors.refs import ObjectKey, find_objects
from memory.memories.admin.neighbours import FORWARDS, Neighbours, neighbours_of
from memory.memories.admin.relationship_graph import Node, worded
from memory.memories.admin.relationship_layout import Drawing, tall, wide
from memory.memories.models.memory import Memory
from memory.memories.selectors.relationships import suggest_relationships

SUGGESTED_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A memory that is like this one, and how the two may be related. `percent`: so like it is."""

    other: Node
    relation: str
    words: str
    strength: int
    percent: int


@dataclass(frozen=True, slots=True)
class Relationships:
    neighbours: Neighbours
    suggested: Sequence[Suggestion]
    drawings: Sequence[Drawing]


def relationships_of(memory: Memory) -> Relationships:
    """Nothing is drawn around a memory that has to do with nothing; one deleted a moment ago has no page."""
    place: ObjectKey = ("memory", memory.pk)
    thing = find_objects(memory.project_id, [place]).get(place)
    if thing is None:
        raise Http404
    found = {
        ("memory", each.target): each
        for each in suggest_relationships(memory.project_id, thing, limit=SUGGESTED_SHOWN)
    }
    asked = [(other, str(each.relation.label), each.strength) for other, each in found.items()]
    neighbours = neighbours_of(memory.project_id, place, asked)
    suggested = [
        Suggestion(
            other=neighbours.nodes[other],
            relation=label,
            words=FORWARDS.get(label, worded(label)),
            strength=strength,
            percent=round(100 * found[other].score),
        )
        for other, label, strength in asked
        if other in neighbours.nodes
    ]
    drawings = [wide(neighbours.graph), tall(neighbours.graph)] if neighbours.graph.branches else []
    return Relationships(neighbours, suggested, drawings)
