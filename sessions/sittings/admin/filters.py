"""Admin filters of sessions and of accesses."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.unfold_compat import DropdownFilter, TextFilter
from ctxhub.core.kit.inputs import read_id

ALL, ONLY = "all", "only"


class WorkspaceFilter(TextFilter):
    """Matches the complete name of a workspace, as the other interfaces do."""

    title = parameter_name = "workspace"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        workspace = (self.value() or "").strip()
        return queryset.filter(workspace_id=workspace) if workspace else queryset


class ImplicitFilter(DropdownFilter):
    """Leaves out sessions that no agent has opened or saved, and unsaved restored ones, unless asked for."""

    title = parameter_name = "implicit"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(ALL, "with implicit sessions"), (ONLY, "only implicit sessions")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == ALL:
            return queryset
        unsaved = Q(is_implicit=True) | Q(saved_at=None, parent__isnull=False)
        return queryset.filter(unsaved) if self.value() == ONLY else queryset.exclude(unsaved)


class SessionFilter(TextFilter):
    """Filters by the id or the name of a session; nothing has an unknown one."""

    title = parameter_name = "session"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip().removeprefix("session:")
        if not value:
            return queryset
        if row_id := read_id(value):
            return queryset.filter(session=row_id)
        return queryset.filter(session__name=value)
