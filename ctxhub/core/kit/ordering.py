"""The order of a list that a caller asks for: fields by their names, `-` before those that descend."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from ctxhub.core.kit.errors import InvalidInput, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import make_cursor, read_cursor

ModelT = TypeVar("ModelT", bound=Model)
ItemT = TypeVar("ItemT")
Ordering = Sequence[str] | None
"""`["-updated", "name"]`; None or empty: the list's own order."""
Columns = Mapping[str, Sequence[str]]
"""The columns that each field of an ordering means, in ascending order: `-rank` is a column that descends."""


def words_of(fields: Iterable[str]) -> list[str]:
    """What an ordering by these fields may say."""
    return [word for field in fields for word in (field, f"-{field}")]


def clean_ordering(ordering: Ordering, fields: Iterable[str]) -> list[str]:
    """The words of an ordering. Raises InvalidInput for an unknown field, and for one that is named twice."""
    known, words = words_of(fields), [word.strip() for word in ordering or ()]
    for word in words:
        if word not in known:
            raise unknown_word("ordering", word, known)
    names = [word.removeprefix("-") for word in words]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InvalidInput(f"ordering names {twice} more than once.")
    return words


def columns_in(ordering: Ordering, fields: Columns) -> list[str]:
    """The columns of an ordering, equal rows by id in the direction of the last; none if none is asked."""
    words = clean_ordering(ordering, fields)
    found = [
        column if not word.startswith("-") else _flipped(column)
        for word in words
        for column in fields[word.removeprefix("-")]
    ]
    if not found or found[-1] in ("id", "-id"):
        return found
    return [*found, "-id" if found[-1].startswith("-") else "id"]


def ordered(rows: QuerySet[ModelT], ordering: Ordering, fields: Columns) -> QuerySet[ModelT]:
    """The rows in this order; in their own if none is asked for."""
    columns = columns_in(ordering, fields)
    return rows.order_by(*(column for column in columns if column not in ("id", "-id"))) if columns else rows


def sorted_by(items: list[ItemT], ordering: Ordering, fields: Mapping[str, Any]) -> list[ItemT]:
    """Items in memory in this order, equal ones as they are. `fields`: functions that read their values."""
    for word in reversed(clean_ordering(ordering, fields)):
        items = sorted(items, key=fields[word.removeprefix("-")], reverse=word.startswith("-"))
    return items


def _flipped(column: str) -> str:
    return column.removeprefix("-") if column.startswith("-") else f"-{column}"


@frozen
class Way:
    """A direction of a list that statements of its own read; `mark`: its word, if it is not the usual one."""

    is_down: bool
    mark: str = ""

    @property
    def direction(self) -> str:
        return "DESC" if self.is_down else "ASC"

    @property
    def beyond(self) -> str:
        """How what follows compares with a position: `(at, id) < (%s, %s)`."""
        return "<" if self.is_down else ">"

    def follows(self, value: int, after: int) -> bool:
        return value < after if self.is_down else value > after

    def behind(self, column: str, after: int | str | None) -> tuple[str, list[Any]]:
        """The rest of a WHERE: what follows a position, if there is one."""
        return ("", []) if after is None else (f"AND {column} {self.beyond} %s", [after])

    def of(self, *columns: str) -> str:
        """An ORDER BY of these columns."""
        return ", ".join(f"{column} {self.direction}" for column in columns)

    def cursor(self, *position: str | float | datetime) -> str:
        return make_cursor(*([self.mark] if self.mark else []), *position)

    def read(self, cursor: str, *kinds: type) -> list[Any]:
        """The position in a cursor. Raises InvalidInput for one of another order."""
        if not self.mark:
            return read_cursor(cursor, *kinds)
        mark, *position = read_cursor(cursor, str, *kinds)
        if mark != self.mark:
            raise other_order()
        return position


NEWEST_FIRST, IN_SEQUENCE = Way(is_down=True), Way(is_down=False)


def clean_one_field(ordering: Ordering, fields: Iterable[str]) -> str:
    """The word of an ordering by one field; "" if none is asked for. Raises InvalidInput for several."""
    words = clean_ordering(ordering, fields)
    if len(words) > 1:
        raise InvalidInput("ordering takes one field here.")
    return words[0] if words else ""


def way_of(ordering: Ordering, usual: str) -> Way:
    """The direction of a list that has one field to be ordered by; `usual`: `-at`, its own order."""
    word = clean_one_field(ordering, [usual.removeprefix("-")]) or usual
    return Way(word.startswith("-"), "" if word == usual else word)


def other_order() -> InvalidInput:
    return InvalidInput("cursor is of another order.", hint="Pass it with the `ordering` it came from.")
