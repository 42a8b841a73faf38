"""REST schemas of the answers about memories, for OpenAPI."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.api.answers import joined
from ctxhub.core.hub.outlines import Outline
from ctxhub.core.toolbox.argument_types import About, LinesOfHit, SizeOfHit, StaleChanges
from memory.memories.selectors.memories import Memory, TypeLabel
from memory.memories.services import memories as services

OutlinedMemory = joined("Memory", Memory, Outline)
AddedMemory = joined("AddedMemory", services.AddAnswer, Memory)
ChangedMemory = joined("ChangedMemory", services.UpdateAnswer, Memory)


class MemoryHit(services.SimilarMemory):
    excerpt: Annotated[str, About("What of it answers.")]
    type: TypeLabel
    context: str
    stack: str
    tokens: Annotated[int, About("What title and excerpt cost.")]
    lines: NotRequired[LinesOfHit | None]
    size: NotRequired[SizeOfHit | None]
    stale: NotRequired[StaleChanges | None]


class SearchMeta(TypedDict):
    search_method: Annotated[str, About("any, or corrected where words were put right.")]
    excerpt_strategy: str


class Hits(TypedDict):
    next: Annotated[str | None, About("Null where there is no further page: ask for more with `limit`.")]
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


class NearMemory(services.SimilarMemory):
    excerpt: str
    distance: Annotated[int, About("The edits of all words together.")]


class FuzzyAnswer(Hits):
    items: Annotated[list[NearMemory], About("The nearest first.")]
