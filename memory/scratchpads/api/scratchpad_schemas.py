"""Rows of the lists of scratchpads, for the OpenAPI schema."""

from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, LinesOfHit, SizeOfHit, Time


class ListedPad(TypedDict):
    id: int
    name: str
    length: Annotated[int, About("In characters.")]
    created_at: Time
    updated_at: Time
    content: Annotated[str | None, About("Null unless asked for.")]


class FoundPad(TypedDict):
    scratchpad_id: int
    name: str
    workflow_id: int
    snippet: Annotated[str | None, About("What is found stands between « and ».")]
    line: Annotated[int | None, About("In one pad: where it is.")]
    lines: LinesOfHit | None
    size: SizeOfHit | None
