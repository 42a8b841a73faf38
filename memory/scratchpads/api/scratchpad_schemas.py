"""REST responses of scratchpads, for the OpenAPI schema."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Time, one_of
from memory.scratchpads.models.scratchpad import PadChange

CHANGES = tuple(PadChange.labels)


class ListedPad(TypedDict):
    id: int
    name: str
    length: Annotated[int, About("In characters.")]
    created_at: Time
    updated_at: Time
    content: Annotated[str | None, About("Null unless asked for.")]


class Outline(TypedDict):
    columns: Annotated[list[str], About("level, text, line")]
    rows: list[list[Any]]


class Pad(TypedDict):
    id: int
    name: str
    workflow_id: int
    content: NotRequired[Annotated[str, About("Not with an outline.")]]
    created_at: Time
    updated_at: Time
    revision: Annotated[int, About("The ETag.")]
    lines: NotRequired[Annotated[str, About("Which lines the content is: 10-40.")]]
    total_lines: NotRequired[int]
    outline: NotRequired[Outline]


class CreatedPad(TypedDict):
    scratchpad_id: int
    created_at: Time
    warning: NotRequired[Annotated[str, About("How much was cut off.")]]


class AppendedPad(TypedDict):
    updated_at: Time
    new_length: Annotated[int, About("In characters.")]
    warning: NotRequired[Annotated[str, About("How much was cut off.")]]


class ChangedPad(AppendedPad):
    revision: int
    result: Annotated[str, one_of("updated", "unchanged")]


class ListedRevision(TypedDict):
    revision: int
    change: Annotated[str, one_of(*CHANGES)]
    length: Annotated[int, About("In characters.")]
    agent: str
    at: Time


class Revision(ListedRevision):
    id: int
    name: str
    workflow_id: int
    content: Annotated[str, About("The text as it was.")]


class FoundPad(TypedDict):
    scratchpad_id: int
    name: str
    workflow_id: int
    snippet: Annotated[str | None, About("What is found stands between « and ».")]
    line: Annotated[int | None, About("In one pad: where it is.")]
