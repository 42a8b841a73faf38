"""A list of rows: its filters as chips, its orders, and what each row shows."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import build_q_object_from_lookup_parameters
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch

from ctxhub.console.rows.facets import Facets
from ctxhub.console.rows.orders import Order, orders_of
from ctxhub.console.rows.row_view import CHECKBOX, Row, RowView
from ctxhub.console.rows.sparklines import Sparkline, sparklines
from ctxhub.console.rows.steps import AT
from ctxhub.console.unfold_compat import ChangeList
from ctxhub.core.kit.frozen import frozen

DELETE = "delete_selected"


@frozen
class BulkAction:
    name: str
    title: str
    is_danger: bool


class RowList(ChangeList):
    """What the template ctxhub/list.html shows."""

    request: HttpRequest
    remaining: dict[str, Any]

    def __init__(self, request: HttpRequest, *arguments: Any, **options: Any) -> None:
        self.request = request
        super().__init__(request, *arguments, **options)

    def get_filters(self, request: HttpRequest) -> Any:
        """Keeps the lookups of the query string that belong to no filter: the month and the day."""
        found = super().get_filters(request)
        self.remaining = dict(found[2])
        return found

    @cached_property
    def facets(self) -> Facets:
        return Facets(self)

    @cached_property
    def orders(self) -> list[Order]:
        return orders_of(self)

    @property
    def has_checkboxes(self) -> bool:
        return CHECKBOX in self.list_display

    checkbox_name = ACTION_CHECKBOX_NAME

    def without(self, spec: Any) -> QuerySet[Any]:
        """The rows that the list would show without this filter."""
        if not any(self.params.get(str(name)) for name in spec.expected_parameters()):
            listed: QuerySet[Any] = self.queryset
            return listed
        rows: QuerySet[Any] = self.root_queryset
        for other in self.filter_specs:
            narrowed = None if other is spec else other.queryset(self.request, rows)
            rows = rows if narrowed is None else narrowed
        rows = rows.filter(build_q_object_from_lookup_parameters(self.remaining))
        found: QuerySet[Any] = self.model_admin.get_search_results(self.request, rows, self.query)[0]
        return found

    def rows(self) -> list[Row]:
        view = RowView(self.model_admin, self.list_display)
        first = (self.page_num - 1) * self.list_per_page if not self.show_all else 0
        drawn = self._sparklines()
        formset: Any = getattr(self, "formset", None)
        forms = formset.forms if formset else [None] * len(self.result_list)
        return [
            view.read(row, first + place, self.row_url(row, first + place), drawn.get(row.pk), form)
            for place, (row, form) in enumerate(zip(self.result_list, forms, strict=True))
        ]

    def row_url(self, row: Any, number: int) -> str:
        """The page of the row, which then knows the list and its place there."""
        if self.list_display_links is None:
            return ""
        try:
            url = self.url_for_result(row)
        except NoReverseMatch:
            return ""
        return f"{url}?{urlencode([*self._kept_in_links, (AT, number)])}"

    @cached_property
    def _kept_in_links(self) -> list[tuple[str, str]]:
        query = self.get_query_string(remove=["p", "e"]).removeprefix("?")
        return [("_changelist_filters", query)] if query else []

    def _sparklines(self) -> dict[Any, Sparkline]:
        model_admin: Any = self.model_admin
        if not (field := model_admin.sparkline_of):
            return {}
        keys = {row.pk: (row.project_id, model_admin.sparkline_key(row)) for row in self.result_list}
        drawn = sparklines(field, list(keys.values()))
        return {pk: drawn[key] for pk, key in keys.items() if key in drawn}


def bulk_actions(choices: Sequence[tuple[str, str]]) -> list[BulkAction]:
    """The actions of a list, the one that deletes last."""
    named = [BulkAction(name, str(title), name == DELETE) for name, title in choices if name]
    return sorted(named, key=lambda action: action.is_danger)
