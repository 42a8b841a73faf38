"""File admin: the files that agents have touched, each with its last change and a link to all changes."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.core.admin.base import Menu
from ctxhub.core.admin.columns import chips, mono, name
from ctxhub.core.admin.filters import ProjectFilter
from ctxhub.core.admin.logged import LoggedAdmin
from ctxhub.core.templatetags.moments import moment
from tracking.models import FileChange, Resource
from tracking.selectors.resources import leases_on


@admin.register(Resource)
class ResourceAdmin(LoggedAdmin):
    menu = Menu("Activity", "description")
    ref_kind = "resource"
    refs_are_numbers = False
    ref_field = "path"
    add_scope = change_scope = delete_scope = None

    list_display = ("named", "last_change", "by", "log")
    list_display_links = ("named",)
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    search_fields = ("path",)
    search_help_text = "Path"
    ordering = ("path", "pk")
    fields = ("project", "named", "last_change", "by", "leased_by", "log")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Resource]:
        rows: QuerySet[Resource] = super().get_queryset(request)
        newest = FileChange.unscoped.filter(resource=OuterRef("pk")).order_by("-at", "-pk")
        return rows.annotate(
            changed_at=Subquery(newest.values("at")[:1]),
            changed_by=Subquery(newest.values("agent__name")[:1]),
        )

    @display(description="File", ordering="path")
    def named(self, file: Resource) -> SafeString:
        return mono(file.path)

    @display(description="Last change")
    def last_change(self, file: Any) -> SafeString | str:
        return moment(file.changed_at)

    @display(description="Agent")
    def by(self, file: Any) -> SafeString | str:
        return name(file.changed_by or "system") if file.changed_at else ""

    @display(description="Leased by")
    def leased_by(self, file: Resource) -> SafeString | str:
        holders = [lease["by"] for lease in leases_on(file.project_id, file.path)]
        return chips(dict.fromkeys(holders)) if holders else "nobody"

    @display(description="Changes")
    def log(self, file: Resource) -> SafeString:
        query = urlencode({"project": file.project.slug, "q": file.path})
        return format_html(
            '<a class="ctx-link" href="{}?{}">Its changes</a>',
            reverse("admin:tracking_filechange_changelist"),
            query,
        )
