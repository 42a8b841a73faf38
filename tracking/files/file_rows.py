"""The base admin of rows about files, which are found by the path of the file, and their filters."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from ctxhub.console.access import shown_project_ids
from ctxhub.console.base import ProjectAdmin
from ctxhub.console.unfold_compat import TextFilter
from ctxhub.core.text.path_forms import spellings
from tracking.changes.queries import files_of


class FileRowsAdmin(ProjectAdmin):
    """Read-only rows. The search box takes a part of a path, or a file's ref (`resource:src/app.py`)."""

    add_scope = change_scope = delete_scope = None
    search_help_text = "Path"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        path = search_term.strip().removeprefix("resource:")
        path = spellings(path)[-1] if path else ""
        return super().get_search_results(request, queryset, path)


class FilesOfFilter(TextFilter):
    """The files that a decision, constraint or memory bears on, by its ref: decision:api/auth."""

    title = "files of"
    parameter_name = "files_of"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (ref := (self.value() or "").strip()):
            return queryset
        files = (row_id for project_id in shown_project_ids(request) for row_id in files_of(project_id, ref))
        return queryset.filter(resource__in=list(files))
