"""List filters of rows about files."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.access import shown_project_ids
from ctxhub.core.admin.unfold_compat import TextFilter
from tracking.selectors.changes import files_of


class FilesOfFilter(TextFilter):
    """The files that a decision, constraint or memory bears on, by its ref: decision:api/auth."""

    title = "files of"
    parameter_name = "files_of"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (ref := (self.value() or "").strip()):
            return queryset
        files = (row_id for project_id in shown_project_ids(request) for row_id in files_of(project_id, ref))
        return queryset.filter(resource__in=list(files))
