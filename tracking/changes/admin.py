"""File change admin: list and read only pages."""

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from ctxhub.console.base import Menu
from ctxhub.console.columns import PREVIEW_CHARACTERS, column, mono, preview, time_in_full
from ctxhub.console.filters import AgentFilter, LayerFilter, ProjectFilter
from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.rows.row_view import RowParts
from ctxhub.core.templatetags.moments import moment
from tracking.files.file_rows import FileRowsAdmin, FilesOfFilter
from tracking.models import FileChange

CHANGE_COLOURS = {"created": "success", "modified": "info", "deleted": "danger"}


@admin.register(FileChange)
class FileChangeAdmin(FileRowsAdmin, LoggedAdmin):
    menu = Menu("Activity", "edit_document")
    ref_kind = "change"
    when_empty = "What agents did to files, and why: they and their hooks record it with `file record`."

    list_display = ("when", "by", "what", "file", "layer", "begins")
    row_parts = RowParts(title="file", text="begins")
    list_filter = (ProjectFilter, AgentFilter, LayerFilter, ("change", ChoicesDropdownFilter), FilesOfFilter)
    list_select_related = ("project", "agent", "layer")
    search_fields = ("resource__path",)
    date_hierarchy = "at"
    fields = ("project", "file", "what", "layer", "by", "happened", "description")

    def get_queryset(self, request: HttpRequest) -> QuerySet[FileChange]:
        """Defers the long texts: the list shows only how each begins, the detail page loads the full text.

        Resources are not joined: SQLite then walks them all, and sorts their changes.
        """
        rows: QuerySet[FileChange] = super().get_queryset(request)
        begins = Left("description", 2 * PREVIEW_CHARACTERS)
        return rows.defer("description").annotate(beginning=begins).prefetch_related("resource")

    when = column("When", lambda change: moment(change.at), ordering="at")
    what = column(
        "Change", lambda change: change.get_change_display(), ordering="change", label=CHANGE_COLOURS
    )
    file = column("File", lambda change: mono(change.resource.path), ordering="resource__path")
    begins = column("Description", lambda change: preview(change.beginning))

    happened = time_in_full("at", "When")
