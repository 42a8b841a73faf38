"""Pages of an ordered queryset. A cursor holds the order, and the values of the last row seen."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateTimeField, IntegerField, Q, QuerySet

from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, Row, make_cursor, read_cursor, total_of
from ctxhub.core.kit.ordering import other_order


def page_of(
    rows: QuerySet[Any],
    columns: Sequence[str],
    rows_of: Callable[[Sequence[Any]], Sequence[Row]],
    *,
    limit: int,
    cursor: str | None,
) -> Listing:
    """The page behind the cursor, in the queryset's order. The fields it is ordered by are never null.

    `rows_of`: the values of `columns` for each object of the page.
    Raises InvalidInput for a cursor of another list or order.
    """
    limit = clean_limit(limit)
    order = [*map(str, rows.query.order_by), "pk"]
    name = ",".join(order)
    page = rows.order_by(*order)
    if cursor:
        page = page.filter(_behind(order, _position(rows, order, name, cursor)))
    found = list(page[: limit + 1])

    def cursor_after(count: int) -> str:
        return make_cursor(name, *(getattr(found[count - 1], field.lstrip("-")) for field in order))

    return Listing(
        columns=columns,
        rows=rows_of(found[:limit]),
        next=cursor_after(limit) if len(found) > limit else None,
        # Without `values` each row's annotations would be computed to be counted.
        extra=total_of(rows.order_by().values("pk")[: COUNTED_TO + 1].count()),
        cursor_after=cursor_after,
    )


def _position(rows: QuerySet[Any], order: Sequence[str], name: str, cursor: str) -> list[Any]:
    known, *values = read_cursor(cursor, str, *(_type_of(rows, field.lstrip("-")) for field in order))
    if known != name:
        raise other_order()
    return values


def _behind(order: Sequence[str], position: Sequence[Any]) -> Q:
    """The rows behind a position: equal in the first fields, and greater (or less) in the next."""
    behind, equal = Q(), Q()
    for field, value in zip(order, position, strict=True):
        name = field.lstrip("-")
        behind |= equal & Q(**{f"{name}__{'lt' if field.startswith('-') else 'gt'}": value})
        equal &= Q(**{name: value})
    return behind


def _type_of(rows: QuerySet[Any], name: str) -> type:
    if name == "pk":
        return int
    try:
        field: Any = rows.model._meta.get_field(name)
    except FieldDoesNotExist:
        field = rows.query.annotations[name].output_field
    return datetime if isinstance(field, DateTimeField) else int if isinstance(field, IntegerField) else str
