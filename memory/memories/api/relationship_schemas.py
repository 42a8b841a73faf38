"""REST schemas of the answers about relationships, for OpenAPI."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, one_of
from memory.memories.models.relationship import Relation

RELATIONS = tuple(Relation.labels)
# A memory's id; of everything else its ref.
Name = str | int


class Related(TypedDict):
    source: Name
    target: Name
    relation: Annotated[str, one_of(*RELATIONS)]
    strength: int
    result: Annotated[str, one_of("created", "updated", "unchanged")]


class Node(TypedDict):
    id: Name
    title: str
    type: Annotated[str, About("A memory's type, or what kind of thing it is.")]


class Edge(TypedDict):
    source: Name
    target: Name
    relation: Annotated[str, one_of(*RELATIONS)]
    strength: int


class SuggestedRelationship(TypedDict):
    target: int
    title: str
    relation: Annotated[str, one_of(*RELATIONS)]
    strength: int
    score: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]


class Around(TypedDict):
    nodes: Annotated[list[Node], About("The nearest first, itself before them.")]
    edges: list[Edge]
    suggested: Annotated[list[SuggestedRelationship], About("Memories that may belong there, best first.")]
    created: Annotated[int, About("How many of these are relationships now.")]
    more: NotRequired[Annotated[bool, About("There is more around it than is shown.")]]
