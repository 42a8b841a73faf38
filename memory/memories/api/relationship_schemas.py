"""REST schemas of the answers about relationships, for OpenAPI."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About
from memory.memories.selectors.memories import Score
from memory.memories.selectors.relationships import Name, RelationLabel, Relationship


class Node(TypedDict):
    id: Name
    title: str
    type: Annotated[str, About("A memory's type, or what kind of thing it is.")]


class SuggestedRelationship(TypedDict):
    target: int
    title: str
    relation: RelationLabel
    strength: int
    score: Score


class Around(TypedDict):
    nodes: Annotated[list[Node], About("The nearest first, itself before them.")]
    edges: list[Relationship]
    suggested: Annotated[list[SuggestedRelationship], About("Memories that may belong there, best first.")]
    created: Annotated[int, About("How many of these are relationships now.")]
    more: NotRequired[Annotated[bool, About("There is more around it than is shown.")]]
