"""REST schemas of the answers about memories, for OpenAPI."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Time, one_of
from memory.memories.models.memory import Difficulty, MemoryType

TYPES = tuple(MemoryType.labels)
DIFFICULTIES = tuple(Difficulty.labels)


class ListedMemory(TypedDict):
    id: int
    title: str
    digest: Annotated[str, About("The first sentence of its content.")]
    type: Annotated[str, one_of(*TYPES)]
    context: str
    stack: str
    tags: list[str]
    tokens: Annotated[int, About("What title and content cost.")]
    updated: Time


class Memory(ListedMemory):
    content: str
    difficulty: Annotated[str, one_of(*DIFFICULTIES)] | None
    paths: list[str]
    metadata: dict[str, Any]
    agent: str
    created: Time


class SimilarMemory(TypedDict):
    id: int
    title: str
    score: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]


class AddedMemory(Memory):
    context_created: NotRequired[Annotated[bool, About("Its context is new.")]]
    similar: NotRequired[Annotated[list[SimilarMemory], About("What says nearly the same.")]]


class ChangedMemory(Memory):
    result: Annotated[str, one_of("updated", "unchanged")]


class MemoryHit(TypedDict):
    id: int
    title: str
    excerpt: Annotated[str, About("What of it answers.")]
    type: Annotated[str, one_of(*TYPES)]
    context: str
    stack: str
    score: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]
    tokens: Annotated[int, About("What title and excerpt cost.")]


class SearchMeta(TypedDict):
    search_method: Annotated[str, About("any, or corrected where words were put right.")]
    excerpt_strategy: str


class Hits(TypedDict):
    next: Annotated[str | None, About("Null: ask for more with `limit`.")]
    count: Annotated[int, About("How many items there are.")]
    omitted: NotRequired[Annotated[int, About("Left out to keep to `max_tokens`.")]]
    hint: NotRequired[Annotated[str, About("What the filters name that is not there.")]]


class MemorySearchAnswer(Hits):
    items: Annotated[list[MemoryHit], About("Best first.")]
    total: Annotated[int, About("How many memories answer, counted to 1,000.")]
    more: NotRequired[Annotated[bool, About("There are more than `total`.")]]
    total_tokens: Annotated[int, About("What titles and excerpts cost together.")]
    avg_tokens: int
    meta: SearchMeta
    did_you_mean: NotRequired[Annotated[str, About("The question without its slips.")]]


class NearMemory(TypedDict):
    id: int
    title: str
    excerpt: str
    distance: Annotated[int, About("The edits of all words together.")]
    score: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]


class FuzzyAnswer(Hits):
    items: Annotated[list[NearMemory], About("The nearest first.")]
