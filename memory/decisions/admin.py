"""Admin pages of decisions: list, read with reasons and history, add, change, deprecate, delete."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import Http404, HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import PREVIEW_CHARACTERS, column, mono, preview
from ctxhub.console.fields import ProseField
from ctxhub.console.filters import AgentFilter, LayerFilter, ProjectFilter, ScopeFilter, TagFilter
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.row_actions import RowAction, row_action
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.stale import PathRowsAdmin, StaleFilter
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.core.kit.errors import Conflict
from memory.decisions.form import DecisionForm
from memory.decisions.inputs import clean_key
from memory.decisions.models import Decision, DecisionStatus
from memory.decisions.queries import find_decision
from memory.decisions.services import deprecate_decision, set_decision
from memory.decisions.versions import chain_of
from memory.decisions.versions_page import (
    count_versions,
    current_version,
    last_revision_id,
    steps,
    version_at,
)
from memory.statistics.admin import numbers_of

if TYPE_CHECKING:
    from memory.decisions.rows import DecisionRow


KEYS_OFFERED = 200


class DeprecateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was decided.")
    superseded_by = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "successors", "autocomplete": "off"}),
        help_text="The key of the decision that replaces it, if there is one.",
    )

    def clean(self) -> dict[str, Any]:
        """Return only the fields that were filled in; the others stay unchanged."""
        cleaned = super().clean() or {}
        if not any(str(value).strip() for value in cleaned.values()) and not self.errors:
            self.add_error("reason", "Enter a reason, or the decision that replaces it.")
        return {name: value for name, value in cleaned.items() if value}


def possible_successors(decisions: Sequence[Decision]) -> list[str]:
    """Return the keys of other active decisions of the same project, newest first."""
    rows = Decision.objects.in_project(decisions[0].project_id).filter(status=DecisionStatus.ACTIVE)
    others = rows.exclude(pk__in=[decision.pk for decision in decisions]).order_by("-updated_at")
    return list(others.values_list("key", flat=True)[:KEYS_OFFERED])


STATUS_COLOURS = {"active": "success", "deprecated": "danger", "draft": "warning"}
VERSIONS_BESIDE = 5
VERSIONS_ON_PAGE = 20


@admin.register(Decision)
class DecisionAdmin(PathRowsAdmin):
    menu = Menu("Knowledge", "gavel")
    when_empty = "One value per key, and why: agents set it with `decision set`, people here."
    ref_kind = "decision"
    refs_are_numbers = False
    ref_field = "key"
    form = DecisionForm
    change_form_template = "ctxhub/decision_form.html"
    read_template = "ctxhub/decision.html"

    long = ("value", "rationale", "alternatives", "tradeoffs", "metadata", "paths", "reason")
    list_display = ("named", "shown_value", "version", "state", "layer", "tagged", "by", "updated")
    row_parts = RowParts(text="shown_value")
    list_filter = (
        ProjectFilter,
        ("status", ChoicesDropdownFilter),
        LayerFilter,
        TagFilter,
        ScopeFilter,
        AgentFilter,
        StaleFilter,
    )
    list_select_related = ("project", "layer", "agent")
    search_help_text = "Words of key, value, reasons or tags"
    date_hierarchy = "updated_at"

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        """Defer the long texts: lists show the beginning of the value; the page of a row reads all of it."""
        rows: QuerySet[Decision] = super().get_queryset(request)
        return rows.annotate(beginning=Left("value", 2 * PREVIEW_CHARACTERS))

    named = column("Key", lambda decision: mono(decision.key), ordering="key")
    shown_value = column("Value", lambda decision: preview(decision.beginning))
    state = column(
        "Status", lambda decision: decision.get_status_display(), ordering="status", label=STATUS_COLOURS
    )

    # -- Reading -----------------------------------------------------------------------------------

    def get_read_context(self, request: HttpRequest, row: Decision) -> dict[str, Any]:
        stored = _row_of(row)
        return {
            **_context(request, row, stored),
            "steps": steps(row.project_id, stored, count=VERSIONS_BESIDE),
            "versions": count_versions(row.project_id, stored),
            "text_pages": pages_of_texts(row.project_id, _texts_of(stored)),
            "chain": chain_of(row.project_id, row.pk),
            "numbers": numbers_of(row.project_id, stored),
        }

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the versions of the decision instead of Django's log entries."""
        decision = self.get_object(request, unquote(object_id))
        return self.missing(request, object_id) if decision is None else self._history(request, decision)

    def _history(self, request: HttpRequest, decision: Decision) -> HttpResponse:
        stored = _row_of(decision)
        pages = Paginator(range(count_versions(decision.project_id, stored)), VERSIONS_ON_PAGE)
        page = pages.get_page(request.GET.get("page"))
        skip = (page.number - 1) * VERSIONS_ON_PAGE
        return self.row_page(
            request,
            decision,
            "ctxhub/decision_history.html",
            title="History",
            **_context(request, decision, stored),
            steps=steps(decision.project_id, stored, count=VERSIONS_ON_PAGE, skip=skip),
            versions=pages.count,
            page=page,
        )

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
            form.current = form.seen = current_version(row)
            seen_id = request.POST.get("seen_revision", "")
            if seen_id.isdecimal() and int(seen_id) < form.last_revision:
                form.seen = version_at(obj.project_id, row, int(seen_id))
        return form

    def add_row(self, request: HttpRequest, row: Decision, form: Any) -> int:
        arguments = form.arguments()
        if find_decision(person().project_id, key := clean_key(arguments["key"])):
            raise Conflict(f"The decision {key!r} already exists. Open it to change it.")
        return self._set(request, arguments)

    def change_row(self, request: HttpRequest, row: Decision, form: Any) -> None:
        version = form.current.state["version"]
        self._set(request, {**form.arguments(), "key": row.key, "expected_version": version})

    def _set(self, request: HttpRequest, arguments: Mapping[str, Any]) -> int:
        answer = set_decision(caller=person(), **arguments)
        if "hint" in answer:
            messages.warning(request, answer["hint"])
        if similar := [other["key"] for other in answer.get("similar", ())]:
            messages.warning(request, f"Similar decisions already exist: {', '.join(similar)}.")
        return answer["id"]

    def deletion_line(self, row: Decision) -> str:
        return f"{row.key}, with all its versions. {EVENTS_STAY}"

    # -- Deprecation -------------------------------------------------------------------------------

    @row_action("Deprecate the selected decisions", template="ctxhub/deprecate.html", form=DeprecateForm)
    def deprecate(self, request: HttpRequest, decisions: Sequence[Decision], **arguments: Any) -> None:
        def write(decision: Decision) -> Any:
            return deprecate_decision(caller=person(), key=decision.key, **arguments)

        self.write_each(request, decisions, write)
        messages.success(request, f"Deprecated: {', '.join(decision.key for decision in decisions)}.")

    def why_not(self, request: HttpRequest, action: RowAction, rows: Sequence[Decision]) -> str:
        if not rows:
            return f"There is nothing to {action.name}."
        if action is type(self).deprecate and len({decision.project_id for decision in rows}) > 1:
            return "Choose decisions of one project. Their successor must be in the same project."
        return super().why_not(request, action, rows)

    def get_row_action_context(self, request: HttpRequest, rows: Sequence[Decision]) -> dict[str, Any]:
        return {"suggestions": {"successors": possible_successors(rows)}}


def _context(request: HttpRequest, decision: Decision, stored: "DecisionRow") -> dict[str, Any]:
    """Return the context of the read page and the history page. The theme links back if `object` is set."""
    query = request.GET.copy()
    query.pop("page", None)
    return {
        "object": decision,
        "stored": stored,
        "colours": STATUS_COLOURS,
        "query": f"?{query.urlencode()}" if query else "",
    }


def _texts_of(stored: "DecisionRow") -> list[str]:
    """The texts of the page, the shorter ones first."""
    lists = json.dumps([stored.alternatives, stored.tradeoffs], ensure_ascii=False)
    return [stored.rationale, stored.reason, lists, str(stored.value)]


def _row_of(decision: Decision) -> "DecisionRow":
    """Return the decision with the names of related rows. Raises Http404 if it was just deleted."""
    row = find_decision(decision.project_id, decision.key)
    if row is None:
        raise Http404
    return row
