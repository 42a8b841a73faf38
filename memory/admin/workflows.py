"""Workflows: work that pads are shared for, to be found, read, closed and reopened."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.core.admin import refs
from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.cells import name, preview
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter
from ctxhub.core.admin.indexed import IndexedAdmin, found_ids
from ctxhub.core.admin.lists import FilteredList, ReadableRows
from ctxhub.core.admin.looks import DropdownFilter
from ctxhub.core.caller import WRITE
from ctxhub.core.inputs import read_id
from ctxhub.core.templatetags.moments import moment
from memory.admin.scratchpad_states import SPOKEN, with_writer
from memory.admin.workflow_closing import counted, set_state
from memory.admin.workflow_form import WorkflowForm
from memory.models import Scratchpad, ScratchpadRevision, Workflow
from memory.services.workflows import create_workflow, delete_workflow, update_workflow

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


class ReadableList(ReadableRows, FilteredList): ...


@admin.register(Workflow)
class WorkflowAdmin(IndexedAdmin):
    menu = Menu("Knowledge", "account_tree")
    ref_kind = "workflow"
    form = WorkflowForm
    delete_scope = WRITE

    list_display = ("named", "state", "pads", "by", "updated")
    list_display_links = ("named",)
    list_filter = (ProjectFilter, StateFilter, AgentFilter)
    list_select_related = ("project", "agent")
    search_help_text = "Words of name or metadata, or of its scratchpads"
    ordering = ("-updated_at", "-pk")
    actions = ("close_selected", "reopen_selected")

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workflow]:
        rows: QuerySet[Workflow] = super().get_queryset(request)
        return rows.annotate(pad_count=_count_of_pads())

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadableList]:
        return ReadableList

    def _found(self, request: HttpRequest, rows: QuerySet[Any], typed: str) -> QuerySet[Any]:
        """In a workflow itself, or in one of its pads."""
        own, pads = (found_ids(request, kind, typed) for kind in ("workflow", "scratchpad"))
        if own is None or pads is None:
            return rows.none()
        holders = Scratchpad.unscoped.filter(pk__in=pads).values("workflow")
        return rows.filter(Q(pk__in=own) | Q(pk__in=holders))

    @display(description="Workflow", ordering="name")
    def named(self, workflow: Workflow) -> SafeString | str:
        return preview(str(workflow))

    @display(description="State", ordering="is_active", label=STATE_COLOURS)
    def state(self, workflow: Workflow) -> str:
        return state_of(workflow)

    @display(description="Scratchpads", ordering="pad_count")
    def pads(self, workflow: Any) -> SafeString | str:
        """How many it has, with the way to them."""
        if not workflow.pad_count:
            return "none yet"
        return format_html('<a class="ctx-link" href="{}">{}</a>', list_of_pads(workflow), workflow.pad_count)

    @display(description="Agent", ordering="agent__name")
    def by(self, workflow: Workflow) -> SafeString:
        return name(workflow.agent.name if workflow.agent else "system")

    @display(description="Written to", ordering="updated_at")
    def updated(self, workflow: Workflow) -> SafeString | str:
        return moment(workflow.updated_at)

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = "<int:workflow_id>/"
        return [
            path(own, view(self.read_view), name="memory_workflow_read"),
            path(f"{own}close/", view(self.close_view), name="memory_workflow_close"),
            path(f"{own}reopen/", view(self.reopen_view), name="memory_workflow_reopen"),
            *super().get_urls(),
        ]

    def read_view(self, request: HttpRequest, workflow_id: int) -> HttpResponse:
        workflow = self.get_object(request, str(workflow_id))
        if workflow is None:
            return self._missing(request, workflow_id)
        return self.page(
            request,
            "ctxhub/workflow.html",
            "Workflow",
            row=workflow,
            project=workflow.project,
            state=state_of(workflow),
            state_colours=STATE_COLOURS,
            pads=_pads(workflow),
            newest=_newest_states(workflow),
            spoken=SPOKEN,
            metadata=workflow.metadata,
            add_pad=f"{reverse('admin:memory_scratchpad_add')}?{_query(workflow)}",
            may_change=self.has_change_permission(request, workflow),
            may_delete=self.has_delete_permission(request, workflow),
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form; whoever may only read is shown the page for reading."""
        workflow = self.get_object(request, unquote(object_id))
        if workflow and request.method == "GET" and not self.has_change_permission(request, workflow):
            return HttpResponseRedirect(self.url("read", workflow.pk))
        response: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The log tells all that happened to it, whoever did it."""
        workflow = self.get_object(request, unquote(object_id))
        if workflow is None:
            return self._missing(request, object_id)
        query = urlencode({"project": workflow.project.slug, "ref": workflow.ref})
        return HttpResponseRedirect(f"{reverse('admin:core_event_changelist')}?{query}")

    def _missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        messages.warning(
            request, f"There is no workflow {object_id} here. Perhaps it was deleted or cleaned?"
        )
        return HttpResponseRedirect(self.url("changelist"))

    # -- Writing -----------------------------------------------------------------------------------

    def get_fieldsets(self, request: HttpRequest, obj: Workflow | None = None) -> list[Any]:
        return [(None, {"fields": ["name", "metadata"]})]

    def save_model(self, request: HttpRequest, obj: Workflow, form: Any, change: bool) -> None:
        caller, told = person(), form.arguments()
        if change:
            update_workflow(caller=caller, workflow_id=obj.pk, **told)
            return
        made = create_workflow(caller=caller, **told)
        obj.__dict__ |= Workflow.objects.in_project(caller.project).get(pk=made["workflow_id"]).__dict__

    def response_post_save_add(self, request: HttpRequest, obj: Workflow) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url("read", obj.pk))

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Workflow) -> None:
        delete_workflow(caller=person(), workflow_id=obj.pk)

    def named_with_all_it_takes(self, row: Any) -> str:
        pads = "no scratchpads" if not row.pad_count else f"its {counted(row.pad_count, 'scratchpad')}"
        return f"{row}, with {pads} and all that they were. That there was such a workflow stays in the log."

    # -- Closed, and open again --------------------------------------------------------------------

    @admin.action(description="Close the selected workflows", permissions=["change"])
    def close_selected(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> None:
        set_state(self, request, list(queryset), reopen=False)

    @admin.action(description="Reopen the selected workflows", permissions=["change"])
    def reopen_selected(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> None:
        set_state(self, request, list(queryset), reopen=True)

    def close_view(self, request: HttpRequest, workflow_id: int) -> HttpResponse:
        return self._state_view(request, workflow_id, reopen=False)

    def reopen_view(self, request: HttpRequest, workflow_id: int) -> HttpResponse:
        return self._state_view(request, workflow_id, reopen=True)

    def _state_view(self, request: HttpRequest, workflow_id: int, *, reopen: bool) -> HttpResponse:
        """By a button: an address that is merely opened changes nothing."""
        workflow = self.get_object(request, str(workflow_id))
        if workflow is None:
            return self._missing(request, workflow_id)
        if request.method == "POST":
            set_state(self, request, [workflow], reopen=reopen)
        return HttpResponseRedirect(self.url("read", workflow.pk))


# -- Pieces ----------------------------------------------------------------------------------------


def state_of(workflow: Workflow) -> str:
    return "open" if workflow.is_active else "closed"


def list_of_pads(workflow: Workflow) -> str:
    return f"{reverse('admin:memory_scratchpad_changelist')}?{_query(workflow)}"


def _query(workflow: Workflow) -> str:
    return urlencode({"project": workflow.project.slug, "workflow": workflow.pk})


def _count_of_pads() -> Coalesce:
    """By itself for each row: a list of workflows that is counted does not count their pads."""
    pads = Scratchpad.unscoped.filter(workflow=OuterRef("pk")).order_by().values("workflow")
    counted = pads.annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _pads(workflow: Workflow) -> QuerySet[Scratchpad]:
    """With how each begins."""
    pads = Scratchpad.objects.in_project(workflow.project_id).filter(workflow=workflow)
    begins = Left("content", FIRST_CHARACTERS)
    return with_writer(pads).defer("content").annotate(begins=begins).order_by("pk")


def _newest_states(workflow: Workflow) -> Iterator[ScratchpadRevision]:
    """What was last written to its pads, by whom."""
    states = ScratchpadRevision.objects.in_project(workflow.project_id).filter(scratchpad__workflow=workflow)
    fields = ("number", "change", "length", "at", "agent__name", "scratchpad__name")
    newest = states.select_related("scratchpad", "agent").only(*fields).order_by("-at", "-pk")
    return newest[:NEWEST_SHOWN].iterator()


def page_of_workflow(project_id: int, name: str) -> str | None:
    row_id = read_id(name)
    exists = row_id and Workflow.objects.in_project(project_id).filter(pk=row_id).exists()
    return reverse("admin:memory_workflow_read", args=[row_id]) if exists else None


refs.pages["workflow"] = page_of_workflow
