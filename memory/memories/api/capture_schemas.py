"""REST schemas of the answers about similarity and captures, for OpenAPI."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, one_of
from memory.memories.api.memory_schemas import TYPES, Hits, SimilarMemory


class SimilarAnswer(Hits):
    items: Annotated[list[SimilarMemory], About("Best first.")]


class FittingContext(TypedDict):
    context: str
    score: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]


class SuggestedContext(TypedDict):
    name: str
    description: str
    tags: list[str]


class ContextSuggestion(TypedDict):
    existing: NotRequired[Annotated[FittingContext, About("It covers half of the keywords, or more.")]]
    new: NotRequired[Annotated[SuggestedContext, About("One to make, where none does.")]]
    similar: NotRequired[Annotated[list[FittingContext], About("Others that come near.")]]
    keywords: list[str]


class Confidence(TypedDict):
    pattern: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]
    uniqueness: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]
    specificity: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]
    quality: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]


class Captured(TypedDict):
    saved: bool
    id: NotRequired[int]
    confidence: Annotated[float, About("Saved above 0.65.", {"minimum": 0, "maximum": 1})]
    parts: Confidence
    duplicate_of: NotRequired[Annotated[str, About("The ref of what says the same.")]]
    reason: NotRequired[Annotated[str, About("Why it is not saved.")]]
    context: NotRequired[str]
    type: NotRequired[Annotated[str, one_of(*TYPES)]]
    title: NotRequired[str]
    context_created: NotRequired[Annotated[bool, About("Its context is new.")]]
