"""The admin of accesses to files and of dependencies between files: read-only lists."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.console.columns import column, mono, time_in_full
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.rows.row_view import RowParts
from ctxhub.core.templatetags.moments import moment
from sessions.accesses.models import Access, ResourceDependency
from sessions.sittings.admin import SessionFilter
from sessions.sittings.page import url_of
from tracking.files.file_rows import FileRowsAdmin
from tracking.models import Resource

ACCESS_COLOURS = {"edited": "warning", "executed": "info"}


@admin.register(Access)
class AccessAdmin(FileRowsAdmin):
    when_empty = (
        "What agents read and edited, file by file: they and their hooks note it with `session track`."
    )
    list_display = ("when", "by", "what", "path", "within")
    row_parts = RowParts(title="path")
    list_filter = (ProjectFilter, AgentFilter, SessionFilter, ("access", ChoicesDropdownFilter))
    list_select_related = ("project", "resource", "agent")
    search_fields = ("resource__path",)
    date_hierarchy = "created_at"
    fields = ("project", "happened", "by", "what", "file", "within")

    when = column("When", lambda access: moment(access.created_at), ordering="created_at")
    what = column(
        "Access", lambda access: access.get_access_display(), ordering="access", label=ACCESS_COLOURS
    )
    path = column("File", lambda access: mono(access.resource.path), ordering="resource__path")
    file = column("File", lambda access: file_link(access.resource))

    @display(description="Session", ordering="session_id")
    def within(self, access: Access) -> SafeString:
        return format_html(
            '<a class="ctx-link" href="{}">{}</a>', url_of(access.session_id), access.session_id
        )

    happened = time_in_full("created_at", "When")


@admin.register(ResourceDependency)
class DependencyAdmin(FileRowsAdmin):
    when_empty = "Which file needs which other one: agents note it with `session depend`."
    list_display = ("needs", "how", "needed", "strength", "since")
    list_filter = (ProjectFilter,)
    list_select_related = ("project", "source", "target")
    search_fields = ("source__path", "target__path")
    ordering = ("-pk",)
    fields = ("project", "needs", "how", "needed", "strength", "said")

    needs = column("File", lambda row: mono(row.source.path), ordering="source__path")
    how = column("Type", lambda row: row.type, ordering="type")
    needed = column("Needs", lambda row: file_link(row.target), ordering="target__path")
    since = column("Since", lambda row: moment(row.created_at), ordering="created_at")

    said = time_in_full("created_at", "Since")


def file_link(file: Resource) -> SafeString:
    url = reverse("admin:tracking_resource_read", args=[file.pk])
    return format_html('<a class="ctx-link" href="{}">{}</a>', url, mono(file.path))
