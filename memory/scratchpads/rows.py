"""The rows of scratchpads, with the state of their workflows."""

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Computed, Row, Table
from ctxhub.core.text.secrets import LONGEST
from memory.scratchpads.models import Scratchpad


@frozen(kw_only=True)
class PadRow(Row):
    """`length` counts characters, `size` bytes; `is_active`: whether its workflow is open.

    `ending`: the end of the content, as long as the longest credential, so that an append, which does not
    read the content, can be checked for one across the seam.
    """

    name: str
    workflow_id: int = 0
    length: int = 0
    size: int = 0
    revision: int = 1
    is_active: bool = True
    content: str = ""
    ending: str = ""


def _read_ending(value: str | bytes | None) -> str:
    """Decode the ending, which may begin inside a character. SQLite returns NULL for an empty text."""
    return value.decode(errors="ignore") if isinstance(value, bytes) else value or ""


def _ending() -> str:
    """SQL of the ending. Bytes on SQLite, which would scan a whole text to count its characters."""
    if connection.vendor == "sqlite":
        return f"substr(CAST(d.content AS BLOB), -{LONGEST})"
    return f"right(d.content, {LONGEST})"


PADS = Table(
    Scratchpad,
    PadRow,
    computed={
        "is_active": Computed("(SELECT w.is_active FROM memory_workflow w WHERE w.id = d.workflow_id)", bool),
        "ending": Computed(_ending, _read_ending),
    },
)

# The columns that lists, reads and appends need.
LISTED = tuple(name for name in PADS.fields if name not in ("content", "ending"))
WITH_CONTENT = (*LISTED, "content")
FOR_APPEND = (*LISTED, "ending")


def read_content_from(row_id: int, start: int) -> str:
    """The text of a pad from a character offset to the end."""
    [(text,)] = sql.rows(
        "SELECT substr(content, %s) FROM memory_scratchpad WHERE id = %s", [start + 1, row_id]
    )
    return str(text)
