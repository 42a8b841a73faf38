"""Opens a long text: whole, in part, or its headings instead of it."""

from typing import Annotated, Any, Unpack

from typing_extensions import TypedDict

from ctxhub.core.hub.partial_reads import Excerpt, Opened, RequestedLines, clean_requested_lines
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import Listing
from ctxhub.core.text.headings import outline
from ctxhub.core.text.parts import count_lines
from ctxhub.toolbox.argument_types import About, RowsOf

COLUMNS = ("level", "text", "line", "size")
# No answer has room for more: a row costs at least four tokens.
MOST_HEADINGS = MAX_TOKENS // 4


class Part(TypedDict, total=False):
    """The requested part of a text: lines "10-40", the last lines, or its headings. Empty: all."""

    lines: str | None
    tail: int | None
    outline: bool


class HeadingRow(TypedDict):
    level: int
    text: str
    line: int
    size: Annotated[int, About("Of its section, in characters.")]


class Outline(TypedDict, total=False):
    """What stands in an object instead of its text."""

    outline: Annotated[Listing, RowsOf(HeadingRow)]
    total_lines: int
    truncated: bool
    omitted: Annotated[int, About("Headings that are left out.")]


Outlined = Annotated[bool, About("The headings of its Markdown instead of its text.")]


def clean_part(**part: Unpack[Part]) -> RequestedLines | None:
    """The requested lines, or None. Raises InvalidInput for more than one argument."""
    given = [name for name, value in part.items() if value is not None and value is not False]
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)} exclude one another.")
    return clean_requested_lines(part.get("lines"), part.get("tail"))


def opened(
    item: dict[str, Any], field: str, kind: str, *, outlined_by: str = "", **part: Unpack[Part]
) -> Opened | Excerpt:
    """An item with this text, complete or in part, or with its headings instead of the text.

    `outlined_by`: see Opened.
    """
    requested = clean_part(**part)
    if not part.get("outline"):
        return Opened(item, field, requested, kind, outlined_by)
    others = {name: value for name, value in item.items() if name != field}
    return Excerpt({**others, **_outline_of(item[field])}, kind)


def _outline_of(text: str) -> dict[str, Any]:
    found, count = outline(text, MOST_HEADINGS)
    rows = [[each.heading.level, each.heading.text, each.heading.line, each.size] for each in found]
    omitted = {"truncated": True, "omitted": count - len(found)} if count > len(found) else {}
    return {
        "outline": Listing(COLUMNS, rows, extra={"count": count}),
        "total_lines": count_lines(text),
        **omitted,
    }
