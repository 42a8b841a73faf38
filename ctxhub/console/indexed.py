"""Lists whose search box queries the search index: fast at any size, in any language, by word stems."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.http import HttpRequest

from ctxhub.console.access import shown_project_ids
from ctxhub.console.logged import LoggedAdmin
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.matches import found_object_ids
from ctxhub.core.search.queries import parse_typed


class IndexedAdmin(LoggedAdmin):
    """Finds rows with all the typed words, of which the last may be a prefix, or the row of a typed ref."""

    search_fields = ("pk",)  # Django shows a search box only if there is at least one.

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        kind, _, name = search_term.strip().partition(":")
        if not search_term.strip():
            return queryset, False
        if kind == self.ref_kind and name.isdecimal() and self.refs_are_numbers:
            return super().get_search_results(request, queryset, search_term)
        if kind == self.ref_kind and not self.refs_are_numbers:
            return queryset.filter(**{self.ref_field: self.ref_value(name)}), False
        return self._found(request, queryset, search_term), False

    def _found(self, request: HttpRequest, rows: QuerySet[Any], typed: str) -> QuerySet[Any]:
        ids = found_ids(request, self.ref_kind, typed)
        return rows.filter(pk__in=ids) if ids else rows.none()


def found_ids(request: HttpRequest, kind: str, typed: str) -> RawSQL | None:
    """A subquery for the ids of a kind that match in the shown projects; None if nothing can match."""
    query = parse_typed(typed)
    projects = [f"P{project_id}" for project_id in shown_project_ids(request)]
    if not query.wanted or not projects:
        return None
    return RawSQL(*found_object_ids(Narrowing([projects, [kind_word(kind)]]), query))  # noqa: S611
