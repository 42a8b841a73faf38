"""Lists in responses: columns and rows, or objects; paginated, and cut to a token budget.

A list is the whole response or stands inside it. Selectors and services answer with a `Listing`, and each
interface shows it: MCP by `with_rows`, REST by `with_arrays`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Generic, TypeVar

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.answers import MOST_ROWS, Item, characters_in, fit_first, fit_lead, size, truncate_text
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen

Row = Sequence[Any]
AnswerT = TypeVar("AnswerT")
ItemT = TypeVar("ItemT")
Show = Callable[[Any], Any]

PREVIEW_CHARACTERS = 200
COUNTED_TO = 1_000

# Of cursors.
MARK, NO_VALUE = "c", "!"  # With the mark none is a number, which a model would send as one.
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
UNSAFE, ESCAPED = re.compile(rb"[^A-Za-z0-9_/:-]"), re.compile(rb"~([0-9A-F]{2})")
NUMBER = re.compile(r"(t?)(-?[0-9]{1,20})(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?")


@frozen
class Listing:
    """One page of a list. `extra` holds further keys of the response (`total`, `more`), `next` the cursor.

    `lead`: keys that come before the rows. If they need too much, their texts are cut to half of the budget.

    `cursor_after(n)` returns the cursor that continues after the first n rows, for a page cut by a token
    budget. `kept`: the columns that are shown where they are empty, too: there, nothing is an answer.
    """

    columns: Sequence[str]
    rows: Sequence[Row]
    next: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    cursor_after: Callable[[int], str] | None = None
    kept: frozenset[str] = frozenset()
    lead: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, *, as_objects: bool = False, max_tokens: int | None = None) -> dict[str, Any]:
        """The response, within `max_tokens`; `omitted` counts the rows left out.

        A list that has rows returns at least one: cut, with `truncated`, if it does not fit.
        """
        if max_tokens is None:
            return self._answer(self.rows[:MOST_ROWS], as_objects)
        if not self.lead:
            return self._within(max_tokens, as_objects)
        rest = replace(self, lead={})
        lead = fit_lead(self.lead, max_tokens, lambda: rest._answer(self.rows[:MOST_ROWS], as_objects))
        return replace(self, lead=lead)._within(max_tokens, as_objects)

    def _within(self, max_tokens: int, as_objects: bool) -> dict[str, Any]:
        if not self.rows:
            return self._answer((), as_objects)

        def first(count: int, row: Item | None = None) -> dict[str, Any]:
            rows = self.rows[:count] if row is None else [[row.get(name) for name in self.columns]]
            return self._answer(rows, as_objects)

        row = dict(zip(self.columns, self.rows[0], strict=True))
        fitted = fit_first(len(self.rows), max_tokens, first, row, characters=characters_in(self.rows))
        if fitted.get("truncated") and size(fitted) > max_tokens:
            fitted.pop("total", None)  # The cursor leads on, a number does not.
        return fitted

    def beside(self, extra: Mapping[str, Any]) -> "Listing":
        """The listing with more `extra` keys; existing keys win."""
        return replace(self, extra={**extra, **self.extra})

    def with_hint(self, hint: str) -> "Listing":
        """The listing with a hint, before the one that it has."""
        hints = [hint, *filter(None, [self.extra.get("hint")])]
        return replace(self, extra={**self.extra, "hint": " ".join(hints)})

    def objects(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _answer(self, rows: Sequence[Row], as_objects: bool) -> dict[str, Any]:
        count = len(rows)
        kept = [
            n
            for n, name in enumerate(self.columns)
            if (rows and name in self.kept) or any(row[n] not in (None, "", [], {}) for row in rows)
        ]
        columns = [self.columns[n] for n in kept]
        values = [[row[n] for n in kept] for row in rows]
        shape: dict[str, Any] = (
            {"items": [dict(zip(columns, row, strict=True)) for row in values]}
            if as_objects
            else {"columns": columns, "rows": values}
        )
        return {**self.lead, **shape, "count": count, **self.extra, **self._continuation(count)}

    def _continuation(self, count: int) -> dict[str, Any]:
        omitted = len(self.rows) - count
        if not omitted:
            return {"next": self.next} if self.next else {}
        following = self.cursor_after(count) if self.cursor_after else None
        omitted += self.extra.get("omitted", 0)
        return {"omitted": omitted, **({"next": following} if following else {})}


class Rows(TypedDict):
    """A list inside a response that is always columns and rows."""

    columns: list[str]
    rows: list[list[Any]]
    count: int


class HoldsLists:
    """Marks the type of an object of any kind: its fields may be lists."""


AnyObject = Annotated[dict[str, Any], HoldsLists()]


@frozen
class Fitting(Generic[AnswerT]):
    """A response that contains what it has room for, which depends on how its lists are shown.

    `build` gets the function that shows the lists of a response.
    """

    build: Callable[[Show], Any]


def with_rows(answer: Any, *, as_objects: bool = False) -> Any:
    """The response as MCP shows it: columns and rows, or `items`; empty lists inside are left out."""

    def show(listing: Listing) -> dict[str, Any]:
        return listing.answer(as_objects=as_objects)

    return show(answer) if isinstance(answer, Listing) else _with_lists(answer, show, keeps_empty=False)


def with_arrays(answer: Any) -> Any:
    """The response as REST shows it: lists are arrays of objects, and `items` if they are all of it."""
    if isinstance(answer, Listing):
        return {**answer.lead, "items": answer.objects(), "count": len(answer.rows), **answer.extra}
    return _with_lists(answer, Listing.objects, keeps_empty=True)


def _with_lists(answer: Any, show: Callable[[Listing], Any], *, keeps_empty: bool) -> Any:
    def within(node: Any) -> Any:
        if isinstance(node, Listing):
            return show(node)
        if isinstance(node, Fitting):
            return node.build(within)
        if isinstance(node, dict):
            return {name: within(inner) for name, inner in node.items() if keeps_empty or not is_empty(inner)}
        return [within(inner) for inner in node] if isinstance(node, list) else node

    def is_empty(node: Any) -> bool:
        return isinstance(node, Listing) and not node.rows

    return within(answer)


def page_in_memory(
    columns: Sequence[str],
    found: Sequence[ItemT],
    row_of: Callable[[ItemT], Row],
    *,
    limit: int,
    cursor: str | None,
    is_cut: bool = False,
    ordering: Sequence[str] | None = None,
) -> Listing:
    """A page of a list that is computed whole; its cursors count the rows. Raises InvalidInput.

    `is_cut`: there are more rows than were found. `ordering`: the order that they are in, if it is not the
    list's own; a cursor belongs to its order.
    """
    mark = [",".join(ordering)] if ordering else []
    start = 0
    if cursor:
        *said, start = read_cursor(cursor, *map(type, mark), int)
        if said != mark:
            raise unknown_cursor()
    return Listing(
        columns,
        [row_of(one) for one in found[start : start + limit]],
        next=make_cursor(*mark, start + limit) if len(found) > start + limit else None,
        extra={"total": len(found), **({"more": True} if is_cut else {})},
        cursor_after=lambda count: make_cursor(*mark, start + count),
    )


def total_of(counted: int) -> dict[str, Any]:
    """The keys `total` and `more`. Counting stops at 1,000: an exact count of a large table is expensive."""
    return {"total": COUNTED_TO, "more": True} if counted > COUNTED_TO else {"total": counted}


def preview(text: Any, *, full: bool = False) -> Any:
    """A text cut at 200 characters for a list, unless `full`; other values unchanged."""
    return text if full or not isinstance(text, str) else truncate_text(text, PREVIEW_CHARACTERS)


def make_cursor(*position: str | float | datetime) -> str:
    """A cursor that holds the sort values and the id of the last row seen, to be passed as it is.

    Plain text costs half of the tokens of Base64. It holds what a query of an address may hold unescaped.
    """
    return MARK + ",".join(map(_written, position))


def read_cursor(cursor: str, *kinds: type) -> list[Any]:
    """The values in a cursor; raises InvalidInput unless they have these types: int, float, str, datetime."""
    try:
        if not cursor.startswith(MARK):
            raise ValueError
        values = cursor.removeprefix(MARK).split(",")
        return [_clean_value(_read(value), kind) for value, kind in zip(values, kinds, strict=True)]
    except (ValueError, TypeError, OverflowError) as error:
        raise unknown_cursor() from error


def unknown_cursor() -> InvalidInput:
    """The error for a cursor that is none, or that of another list."""
    return InvalidInput(
        "cursor is not one that this list gave.", hint="Pass `next` of the answer before, as it is."
    )


def _written(value: Any) -> str:
    """A text after a point, a time as microseconds after a t; a number; nothing else can be read again."""
    if isinstance(value, str):
        escaped = UNSAFE.sub(lambda found: b"~%02X" % found[0][0], value.encode(errors="surrogatepass"))
        return f".{escaped.decode()}"
    if isinstance(value, datetime):
        return f"t{(value - EPOCH) // MICROSECOND}"
    return repr(value) if type(value) in (int, float) else NO_VALUE


def _read(written: str) -> Any:
    if written.startswith("."):
        escaped = written[1:].encode("ascii")
        return ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), escaped).decode()
    if found := NUMBER.fullmatch(written):
        if found[1]:
            return EPOCH + int(written[1:]) * MICROSECOND
        return float(written) if found[3] or found[4] else int(written)
    raise ValueError(written)


def _clean_value(value: Any, kind: type) -> Any:
    """A value that the database can compare with. Raises for any other: cursors are untrusted input."""
    if kind is datetime:
        return value if isinstance(value, datetime) else datetime.fromisoformat(value).astimezone(UTC)
    if type(value) is not kind:
        raise TypeError
    if isinstance(value, int) and not 0 <= value < 2**63:
        raise OverflowError
    if isinstance(value, str) and b"\x00" in value.encode():  # Half of a surrogate pair cannot be encoded.
        raise ValueError
    return value
