"""REST schemas of the answers about contexts, for OpenAPI."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Time, one_of


class ListedContext(TypedDict):
    id: int
    name: str
    memories: Annotated[int, About("How many it holds.")]
    stack: str
    tags: list[str]
    updated: Annotated[Time, About("When it or one of its memories was last written.")]


class Context(ListedContext):
    description: str
    metadata: dict[str, Any]
    agent: str
    created: Time


class CreatedContext(Context):
    result: Annotated[str, one_of("created")]


class ChangedContext(Context):
    result: Annotated[str, one_of("updated", "unchanged")]
