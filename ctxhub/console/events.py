"""The admin of the event log, read-only: which agent did what to which ref."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.console import refs
from ctxhub.console.access import shown_project_ids
from ctxhub.console.base import Menu
from ctxhub.console.columns import agent_cell, column, mono, preview, time_in_full
from ctxhub.console.filters import AgentFilter, ProjectFilter, TimeRangeFilter
from ctxhub.console.project_pages import ProjectPagesAdmin
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.timeline.by_agent import by_agent_context
from ctxhub.console.timeline.page import timeline_context
from ctxhub.console.unfold_compat import DropdownFilter
from ctxhub.core.accounts.visits import last_visit
from ctxhub.core.events.log import changed_values, note_of
from ctxhub.core.events.words import ACTIONS, KINDS, action_word
from ctxhub.core.models import Event, Project
from ctxhub.core.templatetags.entries import written
from ctxhub.core.templatetags.moments import moment

EVENTS_LOOKED_AT = 2_000

ACTION_COLOURS = {
    "created": "success",
    "updated": "info",
    "deprecated": "warning",
    "deleted": "danger",
    "activated": "success",
    "deactivated": "warning",
    "released by an administrator": "warning",
}


class RecentValueFilter(DropdownFilter):
    """Offers the values in the latest EVENTS_LOOKED_AT events: a query of all would get slower and slower."""

    column: ClassVar[str]
    words: ClassVar[Mapping[str, str]]

    @property
    def counted_by(self) -> str:
        return self.column

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        latest = Event.unscoped.filter(project__in=shown_project_ids(request)).order_by("-pk")[
            :EVENTS_LOOKED_AT
        ]
        events = Event.unscoped.filter(pk__in=latest.values("pk")).order_by(self.column)
        values = events.values_list(self.column, flat=True).distinct()
        return [(value, self.words.get(value, value)) for value in values]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.column: self.value()}) if self.value() else queryset


class KindFilter(RecentValueFilter):
    title = "kind"
    parameter_name = column = "noun"
    words = KINDS


class ActionFilter(RecentValueFilter):
    title = "action"
    parameter_name = column = "verb"
    words = ACTIONS


@admin.register(Event)
class EventAdmin(ProjectPagesAdmin):
    menu = Menu("Activity", "history")
    when_empty = (
        "Every change, with who made it and when: the first write of anybody, such as `decision set`,"
        " begins the log."
    )
    add_scope = change_scope = delete_scope = None
    project_pages = {"agents": "By agent", "timeline": "Timeline"}
    kept_by_tabs = ("from", "to")

    list_display = ("when", "who", "what", "on", "leads", "note")
    row_parts = RowParts(title="on", text="note")
    list_select_related = ("agent", "project")
    list_filter = (ProjectFilter, TimeRangeFilter, AgentFilter, KindFilter, ActionFilter)
    search_fields = ("ref",)
    search_help_text = "Ref"
    date_hierarchy = "at"
    fields = ("project", "happened", "who", "what", "about", "note", "data_list")

    def get_urls(self) -> list[URLPattern]:
        opening = path(
            "<int:event_id>/open/", self.admin_site.admin_view(self.open_view), name="core_event_open"
        )
        return [opening, *super().get_urls()]

    def open_view(self, request: HttpRequest, event_id: int) -> HttpResponse:
        """Redirects to the page of the event's ref. Resolved on click, so that lists query no refs."""
        event = self.get_object(request, str(event_id))
        if event is None:
            return HttpResponseRedirect(self.url("changelist"))
        if url := refs.page_of(event.project_id, event.ref):
            return HttpResponseRedirect(url)
        messages.warning(request, f"{event.ref} has no page. It may have been deleted.")
        return HttpResponseRedirect(self.url("change", event.pk))

    def agents_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = by_agent_context(project, request.GET.dict()) if project else {}
        return self.project_page(request, "agents", "ctxhub/by_agent.html", project, **shown)

    def timeline_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        since = last_visit(request.user.pk) if request.user.pk else None
        shown = timeline_context(project, request.GET.dict(), since) if project else {}
        return self.project_page(request, "timeline", "ctxhub/timeline.html", project, **shown)

    when = column("When", lambda event: moment(event.at), ordering="pk")
    who = column("Agent", lambda event: agent_cell(event.agent))
    what = column("Action", lambda event: action_word(event.verb), label=ACTION_COLOURS)
    on = column("Ref", lambda event: mono(event.ref))
    leads = column("Of", lambda event: link_to_ref(event, event.ref.partition(":")[0]))
    note = column("Note", lambda event: preview(note_of(event.data)))

    @display(description="Ref")
    def about(self, event: Event) -> SafeString:
        """The event's ref, linked if it has a page."""
        return link_to_ref(event) if refs.page_of(event.project_id, event.ref) else mono(event.ref)

    @display(description="Data")
    def data_list(self, event: Event) -> SafeString | str:
        changed = {name: f"{written(old)} → {written(new)}" for name, old, new in changed_values(event.data)}
        told = ("changed", "old", "new") if changed else ()
        data = {name: written(value) for name, value in event.data.items() if name not in told}
        rows = format_html_join("", "<dt>{}</dt><dd>{}</dd>", (data | changed).items())
        return format_html('<dl class="ctx-facts ctx-data">{}</dl>', rows) if rows else ""

    happened = time_in_full("at", "When")


def link_to_ref(event: Event, text: str = "") -> SafeString:
    url = reverse("admin:core_event_open", args=[event.pk])
    return format_html('<a class="ctx-link" href="{}">{}</a>', url, text or mono(event.ref))
