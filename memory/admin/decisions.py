"""Decisions: to be found, read with their reasons and history, changed, deprecated."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.core.admin import refs
from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.cells import PREVIEW_CHARACTERS, chips, mono, name, preview
from ctxhub.core.admin.dates import DatedList
from ctxhub.core.admin.filters import AgentFilter, LayerFilter, ProjectFilter, ScopeFilter, TagFilter
from ctxhub.core.admin.indexed import IndexedAdmin
from ctxhub.core.admin.lists import ReadableRows
from ctxhub.core.errors import Conflict
from ctxhub.core.templatetags.entries import written
from ctxhub.core.templatetags.moments import moment
from memory.admin.decision_form import DecisionForm
from memory.admin.decision_history import (
    count_versions,
    current_version,
    last_revision_id,
    steps,
    version_seen,
)
from memory.admin.deprecation import deprecate
from memory.models import Decision
from memory.selectors.decisions import find_decision
from memory.services.decision_fields import clean_key
from memory.services.decisions import delete_decision, set_decision
from memory.sql.decision_rows import DecisionRow

STATUS_COLOURS = {"active": "success", "deprecated": "danger", "draft": "warning"}
VERSIONS_BESIDE = 5
VERSIONS_ON_PAGE = 20
OLDER_SHOWN = 50


class ReadableList(ReadableRows, DatedList): ...


@admin.register(Decision)
class DecisionAdmin(IndexedAdmin):
    menu = Menu("Knowledge", "gavel")
    ref_kind = "decision"
    refs_are_numbers = False
    form = DecisionForm
    change_form_template = "ctxhub/decision_form.html"

    list_display = ("named", "shown_value", "version", "state", "layer", "tagged", "by", "updated")
    list_display_links = ("named",)
    list_filter = (
        ProjectFilter,
        ("status", ChoicesDropdownFilter),
        LayerFilter,
        TagFilter,
        ScopeFilter,
        AgentFilter,
    )
    list_select_related = ("project", "layer", "agent")
    ref_field = "key"
    search_help_text = "Words of key, value, reasons or tags"
    date_hierarchy = "updated_at"
    ordering = ("-updated_at", "-pk")
    actions = ("deprecate_selected",)

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        """Without the long texts: a list shows how a value begins, a page reads the whole row by itself."""
        rows: QuerySet[Decision] = super().get_queryset(request)
        long = ("value", "rationale", "alternatives", "tradeoffs", "metadata", "paths", "reason")
        return (
            rows.defer(*long)
            .annotate(beginning=Left("value", 2 * PREVIEW_CHARACTERS))
            .prefetch_related("tags")
        )

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadableList]:
        return ReadableList

    @display(description="Key", ordering="key")
    def named(self, decision: Decision) -> SafeString:
        return mono(decision.key)

    @display(description="Value")
    def shown_value(self, decision: Any) -> SafeString | str:
        return preview(decision.beginning)

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def state(self, decision: Decision) -> str:
        return decision.get_status_display()

    @display(description="Tags")
    def tagged(self, decision: Any) -> SafeString | str:
        names = sorted(tag.name for tag in decision.tags.all())
        return chips(names, lambda name: decision.shown_in.narrowed_to(tag=name))

    @display(description="Agent", ordering="agent__name")
    def by(self, decision: Decision) -> SafeString:
        return name(decision.agent.name if decision.agent else "system")

    @display(description="Updated", ordering="updated_at")
    def updated(self, decision: Decision) -> SafeString | str:
        return moment(decision.updated_at)

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:decision_id>/", view(self.read_view), name="memory_decision_read"),
            path("<int:decision_id>/deprecate/", view(self.deprecate_view), name="memory_decision_deprecate"),
            *super().get_urls(),
        ]

    def read_view(self, request: HttpRequest, decision_id: int) -> HttpResponse:
        decision = self.get_object(request, str(decision_id))
        if decision is None:
            return self._missing(request, decision_id)
        row = _row_of(decision)
        older = (
            Decision.objects.in_project(decision.project_id).filter(superseded_by_id=row.id).order_by("key")
        )
        return self.page(
            request,
            "ctxhub/decision.html",
            "Decision",
            **self._shown(request, decision, row),
            steps=steps(decision.project_id, row, count=VERSIONS_BESIDE),
            versions=count_versions(decision.project_id, row),
            metadata=[(name, written(entry)) for name, entry in row.metadata.items()],
            supersedes=older.values_list("pk", "key")[:OLDER_SHOWN],
        )

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        decision = self.get_object(request, unquote(object_id))
        if decision is None:
            return self._missing(request, object_id)
        row = _row_of(decision)
        pages = Paginator(range(count_versions(decision.project_id, row)), VERSIONS_ON_PAGE)
        page = pages.get_page(request.GET.get("page"))
        skip = (page.number - 1) * VERSIONS_ON_PAGE
        return self.page(
            request,
            "ctxhub/decision_history.html",
            "History",
            **self._shown(request, decision, row),
            steps=steps(decision.project_id, row, count=VERSIONS_ON_PAGE, skip=skip),
            versions=pages.count,
            page=page,
        )

    def _shown(self, request: HttpRequest, decision: Decision, row: DecisionRow) -> dict[str, Any]:
        query = request.GET.copy()
        query.pop("page", None)
        return {
            "object": decision,
            "row": row,
            "project": decision.project,
            "colours": STATUS_COLOURS,
            "may_change": self.has_change_permission(request, decision),
            "may_delete": self.has_delete_permission(request, decision),
            "query": f"?{query.urlencode()}" if query else "",
        }

    def _missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        messages.warning(request, f"There is no decision {object_id} here. Perhaps it was deleted?")
        return HttpResponseRedirect(self.url("changelist"))

    # -- Writing -----------------------------------------------------------------------------------

    def get_fieldsets(self, request: HttpRequest, obj: Decision | None = None) -> list[Any]:
        first = [] if obj else ["key"]
        last = ["version", "metadata"] if obj else ["metadata"]
        return [
            (None, {"fields": [*first, "value", "kind", "status", "seen_revision"]}),
            ("Why", {"fields": ["rationale", "alternatives", ("pros", "cons")]}),
            ("Where it belongs", {"fields": ["layer", ("tags", "scopes"), "paths"]}),
            ("More", {"fields": last}),
        ]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[DecisionForm]:
        form: type[DecisionForm] = super().get_form(request, obj, change=change, **kwargs)
        if obj is not None:
            row = _row_of(obj)
            form.last_revision = last_revision_id(obj.project_id, row)
            form.standing = form.seen = current_version(row)
            told = request.POST.get("seen_revision", "")
            if told.isdecimal() and int(told) < form.last_revision:
                form.seen = version_seen(obj.project_id, row, int(told))
        return form

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form; whoever may only read is shown the page for reading."""
        decision = self.get_object(request, unquote(object_id))
        if decision and request.method == "GET" and not self.has_change_permission(request, decision):
            return HttpResponseRedirect(self.url("read", decision.pk))
        response: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return response

    def save_model(self, request: HttpRequest, obj: Decision, form: Any, change: bool) -> None:
        caller, told = person(), form.arguments()
        if change:
            told |= {"key": obj.key, "expected_version": form.standing.state["version"]}
        elif find_decision(caller.project_id, key := clean_key(told["key"])):
            raise Conflict(f"There is a decision {key!r} already: open it, and change it there.")
        answer = set_decision(caller=caller, **told)
        obj.pk, obj.key, obj.project = answer["id"], answer["key"], caller.project
        if "hint" in answer:
            messages.warning(request, answer["hint"])
        if similar := [near["key"] for near in answer.get("similar", ())]:
            messages.warning(request, f"Perhaps the same is decided already, as {', '.join(similar)}.")

    def response_post_save_add(self, request: HttpRequest, obj: Decision) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url("read", obj.pk))

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Decision) -> None:
        delete_decision(caller=person(), key=obj.key)

    def named_with_all_it_takes(self, row: Decision) -> str:
        return f"{row.key}, with all its versions. That there was such a decision stays in the log."

    @admin.action(description="Deprecate the selected decisions", permissions=["change"])
    def deprecate_selected(self, request: HttpRequest, queryset: QuerySet[Decision]) -> HttpResponse:
        return deprecate(self, request, list(queryset.select_related("project")), self.url("changelist"))

    def deprecate_view(self, request: HttpRequest, decision_id: int) -> HttpResponse:
        decision = self.get_object(request, str(decision_id))
        if decision is None:
            return self._missing(request, decision_id)
        return deprecate(self, request, [decision], self.url("read", decision.pk))


def _row_of(decision: Decision) -> DecisionRow:
    """The decision with the names of all it points to. It may have been deleted a moment ago."""
    row = find_decision(decision.project_id, decision.key)
    if row is None:
        raise Http404
    return row


def page_of_key(project_id: int, key: str) -> str | None:
    found = Decision.objects.in_project(project_id).filter(key=key).values_list("pk", flat=True).first()
    return reverse("admin:memory_decision_read", args=[found]) if found else None


refs.pages["decision"] = page_of_key
refs.carriers.append("admin:memory_decision_changelist")
