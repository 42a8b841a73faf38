"""The rows of scratchpads, with what is needed of their workflows."""

from dataclasses import dataclass

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.rows import Computed, Row, Table
from ctxhub.core.text.secrets import LONGEST
from memory.scratchpads.models.scratchpad import Scratchpad


@dataclass(frozen=True, slots=True, kw_only=True)
class PadRow(Row):
    """`length` counts characters, `size` bytes; `is_active`: whether its workflow is open.

    `ending`: as much of the content's end as a credential may have begun in, for those who add to it without
    reading it.
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
    """It may begin within a character. SQLite has nothing of an empty text."""
    return value.decode(errors="ignore") if isinstance(value, bytes) else value or ""


def _ending() -> str:
    """Bytes, since SQLite walks through a text to find the end of its characters."""
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

# What is read of a pad: for lists, to show it, to add to it.
LISTED = tuple(name for name in PADS.fields if name not in ("content", "ending"))
WHOLE = (*LISTED, "content")
GROWING = (*LISTED, "ending")


def read_content_from(row_id: int, start: int) -> str:
    """A pad's text from a character on."""
    [(text,)] = sql.rows(
        "SELECT substr(content, %s) FROM memory_scratchpad WHERE id = %s", [start + 1, row_id]
    )
    return str(text)
