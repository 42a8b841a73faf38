"""What is stale: a filter and an action of lists, a mark on the page of a row, and the list of all kinds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.console import refs
from ctxhub.console.access import shown_project_ids
from ctxhub.console.base import Menu, ProjectAdmin, person
from ctxhub.console.columns import chips, column, mono, preview
from ctxhub.console.dashboard import Amount, ListUrl, counting
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.lists import FilteredList
from ctxhub.console.needs.sources import SHOWN, Ago, Files, FoundNeeds, Need, PageLink, Reader
from ctxhub.console.pages import NounAdmin
from ctxhub.console.row_actions import row_action
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.unfold_compat import ChangeList, DropdownFilter
from ctxhub.console.urls import list_url
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.priority import Priority
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.models import PathPattern, Project
from ctxhub.core.paths.queries import Stale, StaleProject, find_stale, find_stale_projects, nouns_with_paths
from ctxhub.core.paths.rows import STALE
from ctxhub.core.paths.services import confirm
from ctxhub.core.registry import plural
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted, enumerated, often


class StaleFilter(DropdownFilter):
    """Of an admin with a `ref_kind`: the rows that are stale, or those that are not."""

    title = parameter_name = "stale"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        self.kind, self.project_ids = model_admin.ref_kind, shown_project_ids(request)
        return [("yes", "stale"), ("no", "not stale")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        stale = PathPattern.unscoped.filter(STALE, project__in=self.project_ids, kind=self.kind)
        ids = stale.values("object_id")
        return queryset.exclude(pk__in=ids) if self.value() == "no" else queryset.filter(pk__in=ids)


class PathRowsAdmin(NounAdmin):
    """Rows that bear on paths: shows whether one is stale, and confirms it."""

    def row_page(
        self, request: HttpRequest, row: Any, template: str, *, title: str = "", **context: Any
    ) -> TemplateResponse:
        key = self.ref_kind, row.pk
        stale = find_stale(row.project_id, [key]).get(key)
        mark = (
            {"stale": stale, "stale_changes_url": changes_url(row.project, row.ref, stale)} if stale else {}
        )
        confirm_url = {"confirm_url": self.url("confirm", row.pk)}
        return super().row_page(request, row, template, title=title, **mark, **confirm_url, **context)

    @row_action("Confirm that the selected ones still hold")
    def confirm(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        _confirm(self, request, [(row.project, row.ref) for row in rows])


def changes_url(project: Project, ref: str, stale: Stale) -> str:
    """The list of the changes of the files of an object since it is stale."""
    since = format_time(stale.since)
    return list_url("tracking_filechange", project, files_of=ref, at__gte=since)


def _confirm(model_admin: ProjectAdmin, request: HttpRequest, rows: Iterable[tuple[Project, str]]) -> None:
    named: dict[Project, list[str]] = {}
    for project, ref in rows:
        named.setdefault(project, []).append(ref)
    confirmed = 0
    for project, project_refs in named.items():
        with model_admin.acting_in(request, project):
            for some in sql.chunks(project_refs, LIST_LENGTH):
                confirmed += confirm(caller=person(), refs=some)["confirmed"]
    messages.success(request, f"{counted(confirmed, 'stale ones')} confirmed.")


# -- All kinds -------------------------------------------------------------------------------------


class KindFilter(DropdownFilter):
    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in nouns_with_paths()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class StaleList(FilteredList):
    def get_results(self, request: HttpRequest) -> None:
        """Sets `head` on each row: what it is of."""
        super().get_results(request)
        heads = _heads_of(self.result_list)
        for row in self.result_list:
            row.head = heads.get((row.kind, row.object_id))


@admin.register(PathPattern)
class StaleRowAdmin(ProjectAdmin):
    """The first pattern of an object holds the count, so each stale object is listed once."""

    menu = Menu("Activity", "sync_problem")
    add_scope = delete_scope = None
    when_empty = (
        "Decisions, constraints and memories whose files others have changed since (`file record`),"
        " until somebody confirms or changes them."
    )

    list_display = ("what", "of_kind", "summary", "files", "changes", "since")
    row_parts = RowParts(text="summary", state=("of_kind",))
    list_display_links = None
    list_filter = (ProjectFilter, KindFilter)
    list_select_related = ("project",)
    search_fields = ("pattern",)
    search_help_text = "Path"
    ordering = ("-stale_since", "-pk")
    actions = ("confirm_selected",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PathPattern]:
        rows: QuerySet[PathPattern] = super().get_queryset(request)
        return rows.filter(STALE)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return StaleList

    def page_for_form(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A row has no page of its own."""
        return HttpResponseRedirect(self.url("changelist"))

    @display(description="Ref")
    def what(self, row: Any) -> SafeString | str:
        if row.head is None:
            return mono(f"{row.kind}:{row.object_id}")
        url = refs.page_of_row(row.kind, row.object_id)
        return format_html('<a class="ctx-link" href="{}">{}</a>', url, mono(str(row.head.name)))

    of_kind = column("Kind", lambda row: chips([row.kind]), ordering="kind")
    summary = column("Begins", lambda row: preview(row.head.summary) if row.head else "")
    files = column("Files", lambda row: mono(row.pattern), ordering="pattern")

    @display(description="Changes", ordering="stale")
    def changes(self, row: Any) -> SafeString | str:
        if row.head is None or row.stale_since is None:
            return f"{row.stale:,}"
        url = changes_url(row.project, str(row.head.name), Stale(row.stale, row.stale_since))
        return format_html('<a class="ctx-link" href="{}">{}</a>', url, f"{row.stale:,}")

    since = column(
        "Since", lambda row: moment(row.stale_since) if row.stale_since else "", ordering="stale_since"
    )

    @admin.action(description="Confirm that the selected ones still hold", permissions=["change"])
    def confirm_selected(self, request: HttpRequest, queryset: QuerySet[PathPattern]) -> None:
        rows = list(queryset)
        if not all(self.has_change_permission(request, row) for row in rows):
            messages.error(request, "You can read these, but you cannot confirm them.")
            return
        heads = _heads_of(rows)
        found = ((row.project, heads.get((row.kind, row.object_id))) for row in rows)
        _confirm(self, request, [(project, str(head.name)) for project, head in found if head])


def _heads_of(rows: Iterable[PathPattern]) -> Mapping[ObjectKey, Head]:
    """One query for each project and kind."""
    ids: dict[tuple[int, str], list[int]] = {}
    for row in rows:
        ids.setdefault((row.project_id, row.kind), []).append(row.object_id)
    nouns = nouns_with_paths()
    return {
        (kind, object_id): head
        for (project_id, kind), object_ids in ids.items()
        if kind in nouns and (read := nouns[kind].heads)
        for object_id, head in read(project_id, object_ids).items()
    }


def stale_objects(reader: Reader) -> FoundNeeds:
    """One need for each project."""
    found = find_stale_projects(reader.project_ids)
    return FoundNeeds(
        [_stale_need(stale, reader) for stale in found[:SHOWN]],
        len(found),
        "projects",
        "with stale objects",
        reader.list_url("core_pathpattern"),
    )


def _stale_need(stale: StaleProject, reader: Reader) -> Need:
    objects = enumerated([counted(count, plural(kind)) for kind, count in stale.kinds.items()])
    files = Files(stale.pattern) if stale.pattern else "the files"
    return Need(
        f"stale-{stale.project_id}",
        stale.project_id,
        Priority.LOW,
        "sync_problem",
        [
            f"{objects} may no longer hold: ",
            files,
            f" changed {often(stale.changes)}, first ",
            Ago(stale.since),
        ],
        stale.since,
        [PageLink("Open", reader.list_url("core_pathpattern", stale.project_id))],
    )


def stale_amounts(project_ids: Sequence[int], list_url: ListUrl) -> list[Amount]:
    stale = PathPattern.unscoped.filter(STALE, project__in=project_ids)
    return [Amount("stale objects", counting(stale), list_url("core_pathpattern"))]
