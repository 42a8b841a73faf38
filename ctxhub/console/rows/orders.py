"""The orders that a list offers: each column that can be sorted by, in both directions."""

from typing import Any

from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ORDER_VAR, PAGE_VAR

from ctxhub.console.rows.row_view import CHECKBOX
from ctxhub.core.kit.frozen import frozen


@frozen
class Order:
    """`direction`: "asc" or "desc" if the list is in this order, otherwise ""."""

    title: str
    up_url: str
    down_url: str
    direction: str


def orders_of(changelist: Any) -> list[Order]:
    current = changelist.get_ordering_field_columns()
    first = next(iter(current), None)
    return [
        Order(
            title,
            changelist.get_query_string({ORDER_VAR: index, PAGE_VAR: None}),
            changelist.get_query_string({ORDER_VAR: f"-{index}", PAGE_VAR: None}),
            current[index] if index == first else "",
        )
        for index, name in enumerate(changelist.list_display)
        if name != CHECKBOX and (title := _title(changelist, name))
    ]


def _title(changelist: Any, name: Any) -> str:
    """The title of a column that can be sorted by, otherwise ""."""
    if changelist.sortable_by is not None and name not in changelist.sortable_by:
        return ""
    if not changelist.get_ordering_field(name) or name == getattr(
        changelist.model_admin, "ordering_field", None
    ):
        return ""
    return str(label_for_field(name, changelist.model, model_admin=changelist.model_admin)).capitalize()
