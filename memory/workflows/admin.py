"""The admin of workflows: lists, pages, forms, closing and reopening."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import column, preview
from ctxhub.console.fields import ObjectField
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.indexed import found_ids
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.pages import NounAdmin
from ctxhub.console.row_actions import row_action
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.unfold_compat import DropdownFilter
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.inputs import NAME_LENGTH
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted
from memory.scratchpads.models import Scratchpad, ScratchpadRevision
from memory.scratchpads.revisions_page import CHANGE_LABELS, with_writer
from memory.workflows.models import Workflow
from memory.workflows.services import close_workflow, create_workflow, update_workflow


class WorkflowForm(ServiceForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="The work that the scratchpads are shared for.",
    )
    metadata = ObjectField(
        help_text='A JSON object: {"ticket": "OPS-7"}. {"keep": "never"} exempts it from the cleanup.'
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.initial.update(name=self.instance.name, metadata=self.instance.metadata)


STATE_COLOURS = {"open": "success", "closed": "warning"}
FIRST_CHARACTERS = 400
NEWEST_SHOWN = 12


class StateFilter(DropdownFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state) for state in STATE_COLOURS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        state = self.value()
        return queryset.filter(is_active=state == "open") if state in STATE_COLOURS else queryset


@admin.register(Workflow)
class WorkflowAdmin(NounAdmin):
    menu = Menu("Knowledge", "account_tree")
    when_empty = (
        "Pieces of work whose scratchpads belong together: agents open one with `scratchpad"
        " create_workflow`, people here."
    )
    ref_kind = "workflow"
    form = WorkflowForm
    read_template = "ctxhub/workflow.html"
    why_missing = "Perhaps it was deleted or cleaned up?"
    delete_scope = WRITE

    list_display = ("named", "state", "pads", "by", "updated")
    list_filter = (ProjectFilter, StateFilter, AgentFilter)
    search_help_text = "Search in name, metadata and scratchpads"
    fieldsets = ((None, {"fields": ["name", "metadata"]}),)

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workflow]:
        rows: QuerySet[Workflow] = super().get_queryset(request)
        return rows.annotate(pad_count=_count_of_pads())

    def _found(self, request: HttpRequest, rows: QuerySet[Any], typed: str) -> QuerySet[Any]:
        """The workflows that match themselves or through one of their pads."""
        own, pads = (found_ids(request, kind, typed) for kind in ("workflow", "scratchpad"))
        if own is None or pads is None:
            return rows.none()
        holders = Scratchpad.unscoped.filter(pk__in=pads).values("workflow")
        return rows.filter(Q(pk__in=own) | Q(pk__in=holders))

    named = column("Workflow", lambda workflow: preview(str(workflow)), ordering="name")
    state = column("State", lambda workflow: state_of(workflow), ordering="is_active", label=STATE_COLOURS)

    @display(description="Scratchpads", ordering="pad_count")
    def pads(self, workflow: Any) -> SafeString | str:
        """The number of pads, with a link to their list."""
        if not workflow.pad_count:
            return "none yet"
        return format_html('<a class="ctx-link" href="{}">{}</a>', list_of_pads(workflow), workflow.pad_count)

    updated = column("Written to", lambda workflow: moment(workflow.updated_at), ordering="updated_at")

    # -- Reading -----------------------------------------------------------------------------------

    def get_read_context(self, request: HttpRequest, row: Workflow) -> dict[str, Any]:
        return {
            "state": state_of(row),
            "state_colours": STATE_COLOURS,
            "pads": _pads(row),
            "newest": _newest_states(row),
            "change_labels": CHANGE_LABELS,
            "add_pad": in_project(reverse("admin:memory_scratchpad_add"), row.project, workflow=row.pk),
        }

    # -- Writing -----------------------------------------------------------------------------------

    def add_row(self, request: HttpRequest, row: Workflow, form: Any) -> int:
        return create_workflow(caller=person(), **form.changed())["workflow_id"]

    def change_row(self, request: HttpRequest, row: Workflow, form: Any) -> None:
        update_workflow(caller=person(), workflow_id=row.pk, **form.changed())

    def deletion_line(self, row: Any) -> str:
        pads = "no scratchpads" if not row.pad_count else f"its {counted(row.pad_count, 'scratchpads')}"
        return f"{row}, with {pads} and all their revisions. {EVENTS_STAY}"

    # -- Close, reopen -----------------------------------------------------------------------------

    @row_action("Close the selected workflows")
    def close(self, request: HttpRequest, workflows: Sequence[Workflow]) -> None:
        changed = self._set_state(request, workflows, reopen=False)
        messages.success(request, f"{changed} closed. Scratchpads of a closed workflow are read-only.")

    @row_action("Reopen the selected workflows")
    def reopen(self, request: HttpRequest, workflows: Sequence[Workflow]) -> None:
        changed = self._set_state(request, workflows, reopen=True)
        messages.success(request, f"{changed} open again.")

    def _set_state(self, request: HttpRequest, workflows: Sequence[Workflow], *, reopen: bool) -> str:
        """Close or reopen, and return the number that changed as a phrase: `2 workflows are`."""

        def write(row: Workflow) -> bool:
            answer = close_workflow(caller=person(), workflow_id=row.pk, reopen=reopen)
            return answer["result"] == "updated"

        changed = sum(self.write_each(request, workflows, write))
        return f"{counted(changed, 'workflows')} {'is' if changed == 1 else 'are'}"


# -- Pieces ----------------------------------------------------------------------------------------


def state_of(workflow: Workflow) -> str:
    return "open" if workflow.is_active else "closed"


def list_of_pads(workflow: Workflow) -> str:
    return list_url("memory_scratchpad", workflow.project, workflow=workflow.pk)


def _count_of_pads() -> Coalesce:
    """A subquery for each row, so that counting the workflows of a list does not count pads."""
    pads = Scratchpad.unscoped.filter(workflow=OuterRef("pk")).order_by().values("workflow")
    counts = pads.annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


def _pads(workflow: Workflow) -> QuerySet[Scratchpad]:
    """The pads of a workflow, each with the beginning of its content."""
    pads = Scratchpad.objects.in_project(workflow.project_id).filter(workflow=workflow)
    begins = Left("content", FIRST_CHARACTERS)
    return with_writer(pads).defer("content").annotate(begins=begins).order_by("pk")


def _newest_states(workflow: Workflow) -> Iterator[ScratchpadRevision]:
    """The newest states of the workflow's pads, with their agents."""
    states = ScratchpadRevision.objects.in_project(workflow.project_id).filter(scratchpad__workflow=workflow)
    fields = ("number", "change", "length", "at", "agent__name", "scratchpad__name")
    newest = states.select_related("scratchpad", "agent").only(*fields).order_by("-at", "-pk")
    return newest[:NEWEST_SHOWN].iterator()
