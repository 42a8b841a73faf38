"""The page of a project's data: what is stored, an export of it, backups and drills, and the imports."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse

from ctxhub.console.access import access_of, chosen_project, named_slug, shown_project
from ctxhub.console.base import Menu
from ctxhub.console.columns import column
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.project_pages import ProjectPagesAdmin
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.service_form import sentence
from ctxhub.console.urls import in_project
from ctxhub.core.accounts.people import is_superuser
from ctxhub.core.hub.stored import stored_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import HubRecord, Import, Project
from ctxhub.core.records.services import list_records
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.transfer.exporting import MEDIA_TYPE, MOST_BYTES, small_export
from ctxhub.core.transfer.models import ImportState
from ctxhub.core.transfer.publishing import OUTCOMES

SHOWN = 10
OLD = timedelta(days=7)
Kind = HubRecord.Kind
WITH_LOG = "with_log"


@frozen
class ShownImport:
    """`counts` and `state` are words."""

    at: Any
    by: str
    counts: str
    state: str


@admin.register(Import)
class DataAdmin(ProjectPagesAdmin):
    menu = Menu("Access", "database", page="data", title="Data")
    view_scope = ADMIN
    add_scope = change_scope = delete_scope = None
    project_pages = {"data": "Overview"}
    list_title = "Imports"
    when_empty = (
        "Files that were put into the project with `manage.py import` or `POST import/`, and what became"
        " of their rows."
    )

    list_display = ("started", "who", "what", "how_far")
    row_parts = RowParts(title="what", state=("how_far",))
    list_display_links = None
    list_select_related = ("project",)
    list_filter = (ProjectFilter,)
    ordering = ("-started_at", "-pk")

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(self.export)
        return [path("export/", export, name="core_import_export"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Import]:
        rows: QuerySet[Import] = super().get_queryset(request)
        return rows.filter(project__isnull=False)

    started = column("When", lambda row: moment(row.started_at), ordering="started_at")
    who = column("By", lambda row: row.by, ordering="by")
    what = column("Objects", lambda row: _counts(row))
    how_far = column("State", lambda row: _state(row), ordering="state")

    def data_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = _context(request, project) if project else {}
        return self.project_page(request, "data", "ctxhub/data.html", project, opts=None, **shown)

    def export(self, request: HttpRequest) -> HttpResponse:
        """The export as a file, as REST answers it; a larger one is refused on the page, with the command."""
        project = shown_project(request)
        if named_slug(request) and chosen_project(request) is None:
            raise Http404
        if project is None or not access_of(request).may(ADMIN, project.pk):
            raise PermissionDenied
        try:
            with_log = request.GET.get(WITH_LOG) == "true"
            body = small_export(project, with_log=with_log, at_most=MOST_BYTES)
        except LimitReached as error:
            messages.error(request, sentence(error))
            return HttpResponseRedirect(self.url_of_page("data", project))
        headers = {
            "Content-Disposition": f'attachment; filename="{project.slug}.jsonl"',
            "Cache-Control": "no-store",
        }
        return HttpResponse(body, content_type=MEDIA_TYPE, headers=headers)


def _context(request: HttpRequest, project: Project) -> dict[str, Any]:
    """One statement for what is stored, one for the hub's records, one for the imports."""
    kinds, records = stored_of(project.pk), list_records()
    backup, drill = records.get(Kind.BACKUP), records.get(Kind.DRILL)
    imports = Import.objects.filter(project=project).order_by("-started_at", "-pk")[:SHOWN]
    export_url = reverse("admin:core_import_export")
    return {
        "stored": kinds,
        "stored_bytes": sum(kind.bytes for kind in kinds),
        "export_url": in_project(export_url, project),
        "export_with_log_url": in_project(export_url, project, **{WITH_LOG: "true"}),
        "most_mib": MOST_BYTES // 2**20,
        "sees_hub": is_superuser(request.user),
        "backup": backup,
        "drill": drill,
        "restore": records.get(Kind.RESTORE),
        "is_backup_old": backup is None or backup.at < clock.now() - OLD,
        "imports": [ShownImport(row.started_at, row.by, _counts(row), _state(row)) for row in imports],
    }


def _counts(row: Import) -> str:
    """What became of the objects, or how many there are of an import into a new project."""
    if not {*row.counts} <= {*OUTCOMES}:
        return f"{sum(row.counts.values()):,} new"
    return ", ".join(f"{count:,} {name}" for name, count in row.counts.items() if count) or "none"


def _state(row: Import) -> str:
    if row.state == ImportState.DONE:
        return "done"
    return "at work" if row.alive_until > clock.now() else "cut off: the next cleanup ends it"
