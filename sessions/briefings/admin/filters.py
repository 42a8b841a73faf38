"""Filters of the list of briefings: how they were given, and what was in them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.access import shown_project_ids
from ctxhub.core.admin.unfold_compat import DropdownFilter
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.registry import find_noun
from sessions.briefings.models.briefing import BriefingItem

VIAS = ("brief", "get", "why", "load", "restore")


class ViaFilter(DropdownFilter):
    title = "by"
    parameter_name = "via"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(via, via) for via in VIAS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(via=self.value()) if self.value() else queryset


def briefings_with(request: HttpRequest, ref: str) -> QuerySet[Any, int] | None:
    """The ids of the briefings with the thing of this ref in the shown projects; None if it is no ref."""
    kind, colon, name = ref.partition(":")
    noun = find_noun(kind) if colon else None
    if noun is None:
        return None
    field = getattr(admin.site._registry.get(noun.model), "ref_field", "pk")
    value = read_id(name) if field == "pk" else name
    projects = shown_project_ids(request)
    rows = noun.model._base_manager.filter(project__in=projects, **{field: value}).values("pk")
    items = BriefingItem.unscoped.filter(project__in=projects, kind=kind, object_id__in=rows)
    return items.values_list("briefing_id", flat=True)
