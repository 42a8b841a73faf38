"""The base admin of rows about files, which are found by the path of the file."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.base import ProjectAdmin
from ctxhub.core.text.path_forms import spellings


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
