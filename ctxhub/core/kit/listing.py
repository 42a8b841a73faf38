"""A list as the contract answers it: columns and rows, or objects, paged, and cut to a token budget."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ctxhub.core.kit.answers import Item, fit_first, truncate_text
from ctxhub.core.kit.errors import InvalidInput

Row = Sequence[Any]

PREVIEW_CHARACTERS = 200
COUNTED_TO = 1_000


@dataclass(frozen=True, slots=True)
class Listing:
    """One page. `extra` stands beside the rows (`total`, `more`); `next` is the cursor of the next page.

    `cursor_after(n)` is the cursor that continues behind the first n rows, for a page cut short by a token
    budget.
    """

    columns: Sequence[str]
    rows: Sequence[Row]
    next: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    cursor_after: Callable[[int], str] | None = None

    def answer(self, *, as_objects: bool = False, max_tokens: int | None = None) -> dict[str, Any]:
        """The contract's answer, within `max_tokens`; `omitted` counts the rows left out for it.

        One row is always there, if the list has any: cut, and `truncated`, where it does not fit.
        """

        if max_tokens is None or not self.rows:
            return self._answer(self.rows, as_objects)

        def first(count: int, row: Item | None = None) -> dict[str, Any]:
            rows = self.rows[:count] if row is None else [[row.get(name) for name in self.columns]]
            return self._answer(rows, as_objects)

        row = dict(zip(self.columns, self.rows[0], strict=True))
        return fit_first(len(self.rows), max_tokens, first, row)

    def beside(self, extra: Mapping[str, Any]) -> "Listing":
        """The same with more standing beside the rows; what stands there already stays."""
        return replace(self, extra={**extra, **self.extra})

    def objects(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _answer(self, rows: Sequence[Row], as_objects: bool) -> dict[str, Any]:
        count = len(rows)
        kept = [n for n in range(len(self.columns)) if any(row[n] not in (None, "", [], {}) for row in rows)]
        columns = [self.columns[n] for n in kept]
        values = [[row[n] for n in kept] for row in rows]
        shape: dict[str, Any] = (
            {"items": [dict(zip(columns, row, strict=True)) for row in values]}
            if as_objects
            else {"columns": columns, "rows": values}
        )
        return {**shape, "count": count, **self.extra, **self._continuation(count)}

    def _continuation(self, count: int) -> dict[str, Any]:
        omitted = len(self.rows) - count
        if not omitted:
            return {"next": self.next} if self.next else {}
        following = self.cursor_after(count) if self.cursor_after else None
        return {"omitted": omitted, **({"next": following} if following else {})}


def total_of(counted: int) -> dict[str, Any]:
    """`total`, which counts to 1,000 and stops there: an exact count of a large table is never cheap."""
    return {"total": COUNTED_TO, "more": True} if counted > COUNTED_TO else {"total": counted}


def preview(text: Any, *, full: bool = False) -> Any:
    """Texts are cut in lists at 200 characters."""
    return text if full or not isinstance(text, str) else truncate_text(text, PREVIEW_CHARACTERS)


def make_cursor(*place: str | int) -> str:
    """An opaque cursor that holds the sort values and the id of the last row seen."""
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def read_cursor(cursor: str, *kinds: type) -> list[Any]:
    """The place a cursor holds; raises InvalidInput unless it has these kinds: int, str, datetime."""
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return [_part(part, kind) for part, kind in zip(place, kinds, strict=True)]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidInput(
            "cursor is not one that this list gave.", hint="Pass `next` of the answer before, as it is."
        ) from error


def _part(part: Any, kind: type) -> Any:
    """What a database can compare with, or an exception: a cursor may come from anywhere."""
    if kind is datetime:
        return datetime.fromisoformat(part).astimezone(UTC)
    if type(part) is not kind:
        raise TypeError
    if isinstance(part, int) and not 0 <= part < 2**63:
        raise OverflowError
    if isinstance(part, str) and b"\x00" in part.encode():  # Half of a surrogate pair cannot be encoded.
        raise ValueError
    return part
