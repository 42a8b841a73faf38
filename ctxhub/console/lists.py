"""Lists that show their active filters, each with a link that removes it."""

from collections.abc import Mapping
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ALL_VAR, ERROR_FLAG, ORDER_VAR, PAGE_VAR, SEARCH_VAR
from django.core.exceptions import FieldError
from django.db import DataError
from django.http import HttpRequest

from ctxhub.console.rows.row_list import RowList
from ctxhub.console.unfold_compat import ChangeList
from ctxhub.core.kit.frozen import frozen

# Order and page do not filter, and the search box shows its own text.
UNREADABLE = (ValueError, OverflowError, DataError, FieldError)
NO_FILTERS = frozenset({ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR})


@frozen
class ActiveFilter:
    """An active filter and the URL of the list without it."""

    title: str
    value: str
    url: str
    is_project: bool = False


class ReadableQuery(RowList):
    """A list whose query string nobody has to trust: what cannot be read redirects to the whole list.

    Django does so for filters itself, but fails for dates that no calendar has and numbers beyond a column.
    """

    def __init__(self, request: HttpRequest, *args: Any, **options: Any) -> None:
        try:
            super().__init__(request, *args, **options)
        except UNREADABLE as error:
            if not request.GET.keys() - {ERROR_FLAG, "project"}:
                raise
            raise IncorrectLookupParameters(str(error)) from error


class FilteredList(ReadableQuery):
    def active_filters(self) -> list[ActiveFilter]:
        dates = f"{self.date_hierarchy}__"
        return [
            self._active_filter(name, str(value))
            for name, value in self.params.items()
            if value and name not in NO_FILTERS and not name.startswith(("_", dates))
        ]

    def shows_all(self) -> bool:
        """Whether the list leaves out nothing but the rows of other projects."""
        filters = self.params.keys() - NO_FILTERS - {"project"}
        return not self.query and not any(self.params[name] for name in filters)

    def narrowed_to(self, **filters: str | None) -> str:
        """The URL of the first page of this list with further filters."""
        return self.get_query_string({**filters, PAGE_VAR: None})

    def _active_filter(self, name: str, value: str) -> ActiveFilter:
        spec = next((spec for spec in self.filter_specs if name in spec.expected_parameters()), None)
        own_titles: Mapping[str, str] = getattr(spec, "titles", {})
        title = own_titles.get(name) or (str(spec.title) if spec else name.partition("__")[0])
        # Without the parameter, the list of the remembered project would be shown.
        url = self.narrowed_to(**{name: "" if name == "project" else None})
        return ActiveFilter(title, _choices(spec).get(value, value), url, name == "project")


class ReadableRows(ChangeList):
    """A mixin for a list whose rows link to the read page."""

    def url_for_result(self, result: Any) -> str:
        page: str = self.model_admin.url("read", result.pk)  # type: ignore[attr-defined]
        return page

    def get_results(self, request: HttpRequest) -> None:
        """Sets `shown_in` on each row, so that links of its tags can add a filter to the list."""
        super().get_results(request)
        for row in self.result_list:
            row.shown_in = self


def _choices(spec: Any) -> dict[str, str]:
    """The labels of a filter's values: those of its field, or its own lookup choices."""
    field = getattr(spec, "field", None)
    choices = field.flatchoices if field else getattr(spec, "lookup_choices", ())
    return {str(value): str(label) for value, label in choices}
