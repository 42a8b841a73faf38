"""The admin of sessions: their list and pages. Agents make and save sessions; people read and delete them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, Q, QuerySet
from django.db.models.functions import Left
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import PREVIEW_CHARACTERS, column, preview
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.numbered_lines import numbered_lines
from ctxhub.console.pages import NounAdmin
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.console.unfold_compat import DropdownFilter, TextFilter
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted
from sessions.accesses.models import Access, SessionResource
from sessions.sittings.models import AgentSession, ContextItem, Conversation
from sessions.sittings.page import (
    activity_of,
    conversations_page,
    files_of,
    items_of,
    lineage_of,
    session_text,
    states_of,
)
from sessions.sittings.services import delete_session

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


HELD: dict[str, type[Model]] = {
    "conversations": Conversation,
    "items": ContextItem,
    "files": SessionResource,
    "accesses": Access,
}


@admin.register(AgentSession)
class SessionAdmin(NounAdmin):
    menu = Menu("Activity", "terminal")
    ref_kind = "session"
    read_template = "ctxhub/session.html"
    when_empty = (
        "Work that a new window can go on with: agents and hooks save it with `session save`, and"
        " `session restore` continues it."
    )
    has_change_form = False
    add_scope = change_scope = None

    list_display = ("named", "by", "within", "about", "cost", "continues", "saved")
    row_parts = RowParts(text="about")
    list_filter = (ProjectFilter, AgentFilter, WorkspaceFilter, ImplicitFilter)
    search_help_text = "Search in summary, workspace, branch and the newest conversation"
    date_hierarchy = "created_at"

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentSession]:
        """Without summaries: the list shows how each begins, and a page reads its own."""
        rows: QuerySet[AgentSession] = super().get_queryset(request)
        return rows.defer("summary").annotate(beginning=Left("summary", 2 * PREVIEW_CHARACTERS))

    @display(description="Session", ordering="pk")
    def named(self, session: AgentSession) -> SafeString | str:
        """The id, with the name if it has one."""
        if not session.name:
            return str(session.pk)
        return format_html('{} <span class="ctx-block ctx-quiet">{}</span>', session.pk, session.name)

    @display(description="Workspace", ordering="workspace_id")
    def within(self, session: Any) -> SafeString:
        url = session.shown_in.narrowed_to(workspace=session.workspace_id)
        return format_html('<a class="ctx-chip" href="{}">{}</a>', url, session.workspace_id)

    about = column("Summary", lambda session: preview(session.beginning))
    cost = column("Tokens", lambda session: f"{session.token_count:,}", ordering="token_count")

    @display(description="Continues", ordering="parent_id")
    def continues(self, session: AgentSession) -> SafeString | str:
        if session.parent_id is None:
            return ""
        url = self.page_of_id(session.parent_id)
        return format_html('<a class="ctx-link" href="{}">{}</a>', url, session.parent_id)

    saved = column("Saved", lambda session: moment(session.saved_at), ordering="saved_at")

    # -- Reading -----------------------------------------------------------------------------------

    def get_row_urls(self) -> list[URLPattern]:
        return [
            self.row_path("conversation", self.conversation_view),
            self.row_path("item", self.item_view),
            self.row_path("export", self.export_view),
        ]

    def get_read_context(self, request: HttpRequest, row: AgentSession) -> dict[str, Any]:
        return {
            "text_pages": pages_of_texts(row.project_id, [row.summary]),
            "lineage": lineage_of(row),
            "conversations": conversations_page(row, request.GET.get("conversations", "")),
            "items": items_of(row),
            "states": states_of(row),
            "files": files_of(row, request.GET),
            "activity": activity_of(row),
        }

    def conversation_view(self, request: HttpRequest, row: AgentSession) -> HttpResponse:
        found = _part(Conversation, row, pk=read_id(request.GET.get("id", "") or "0"))
        return self._text_page(request, row, f"Conversation {found.pk}", found.text, found.token_count)

    def item_view(self, request: HttpRequest, row: AgentSession) -> HttpResponse:
        found = _part(ContextItem, row, pk=read_id(request.GET.get("id", "") or "0"))
        title = found.category or f"Item {found.position + 1}"
        return self._text_page(request, row, title, found.content, found.token_count)

    def _text_page(
        self, request: HttpRequest, row: AgentSession, part: str, text: str, tokens: int
    ) -> HttpResponse:
        lines = numbered_lines(text, request.GET.get("line", ""))
        return self.row_page(
            request,
            row,
            "ctxhub/session_text.html",
            part=part,
            tokens=tokens,
            lines=lines,
            part_id=request.GET.get("id", ""),
        )

    def export_view(self, request: HttpRequest, row: AgentSession) -> HttpResponse:
        """Everything that is stored of the session, as text to download."""
        name = f"session-{row.pk}.txt"
        return HttpResponse(
            session_text(row),
            content_type="text/plain; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    # -- Deleting ----------------------------------------------------------------------------------

    def delete_model(self, request: HttpRequest, obj: AgentSession) -> None:
        delete_session(caller=person(), session=obj.pk)

    def get_deleted_objects(
        self, objs: Iterable[Model], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        rows = list(objs)
        _count_held(rows)
        return super().get_deleted_objects(rows, request)

    def deletion_line(self, row: Any) -> str:
        held = ", ".join(counted(count, noun) for noun, count in row.held.items() if count)
        stay = " Sessions that continue it stay." if row.child_count else ""
        return f"{row}, {f'with {held}' if held else 'which is empty'}.{stay} {EVENTS_STAY}"


def _part(model: type[Any], session: AgentSession, **named: Any) -> Any:
    found = model.objects.in_project(session.project_id).filter(session=session, **named).first()
    if found is None:
        raise Http404
    return found


def _count_held(rows: Sequence[Any]) -> None:
    """Sets on each session what is deleted with it, and how many sessions continue it."""
    ids = [row.pk for row in rows]
    held = {noun: _counts(model, "session", ids) for noun, model in HELD.items()}
    children = _counts(AgentSession, "parent", ids)
    for row in rows:
        row.held = {noun: counts.get(row.pk, 0) for noun, counts in held.items()}
        row.child_count = children.get(row.pk, 0)


def _counts(model: type[Any], field: str, ids: Sequence[int]) -> dict[int, int]:
    rows = model.unscoped.filter(**{f"{field}__in": ids}).order_by()
    return dict(rows.values_list(field).annotate(count=Count("pk")))
