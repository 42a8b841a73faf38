"""Lists that say what they are narrowed to, each filter with the way out of it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.views.main import ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR
from django.http import HttpRequest

from ctxhub.core.admin.unfold_compat import ChangeList

# What orders and turns pages narrows nothing, and the search box shows what it looks for.
NO_FILTERS = frozenset({ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR})


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """What a list is narrowed to, and the address of the list without it."""

    title: str
    value: str
    url: str


class FilteredList(ChangeList):
    def active_filters(self) -> list[ActiveFilter]:
        dates = f"{self.date_hierarchy}__"
        return [
            self._active_filter(name, str(value))
            for name, value in self.params.items()
            if value and name not in NO_FILTERS and not name.startswith(("_", dates))
        ]

    def narrowed_to(self, **filters: str | None) -> str:
        """The address of this list, from its first page, with another filter on top of its own."""
        return self.get_query_string({**filters, PAGE_VAR: None})

    def _active_filter(self, name: str, value: str) -> ActiveFilter:
        spec = next((spec for spec in self.filter_specs if name in spec.expected_parameters()), None)
        title = str(spec.title) if spec else name.partition("__")[0]
        return ActiveFilter(title, _choices(spec).get(value, value), self.narrowed_to(**{name: None}))


class ReadableRows(ChangeList):
    """Beside a list: its rows lead to the page that is for reading."""

    def url_for_result(self, result: Any) -> str:
        page: str = self.model_admin.url("read", result.pk)  # type: ignore[attr-defined]
        return page

    def get_results(self, request: HttpRequest) -> None:
        """A row knows its list, so that its tags narrow it further."""
        super().get_results(request)
        for row in self.result_list:
            row.shown_in = self


def _choices(spec: Any) -> dict[str, str]:
    """What a filter calls its values: its own words, or those of the field it is about."""
    field = getattr(spec, "field", None)
    named = field.flatchoices if field else getattr(spec, "lookup_choices", ())
    return {str(value): str(text) for value, text in named}
