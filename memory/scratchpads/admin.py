"""The admin of scratchpads: lists, pages, forms and revisions."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import agent_name, column, preview
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.find import find_in
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.markdown import hidden_note, read_markdown
from ctxhub.console.numbered_lines import numbered_lines
from ctxhub.console.pages import NounAdmin
from ctxhub.console.revisions import revisions_page
from ctxhub.console.row_panels import panels_of
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.console.unfold_compat import TextFilter
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.inputs import read_id
from memory.scratchpads.form import AppendForm, NewPadForm, PadForm
from memory.scratchpads.models import Scratchpad
from memory.scratchpads.queries import find_revision
from memory.scratchpads.revisions_page import append, restore, revisions_of, tell_cut, with_writer
from memory.scratchpads.services import create_scratchpad, update_scratchpad
from memory.workflows.admin import STATE_COLOURS, state_of

CLOSED = "This scratchpad is read-only because its workflow is closed."
REFUSED = "You can read this scratchpad, but you cannot write to it."


class WorkflowFilter(TextFilter):
    """Filters by the id of a workflow, or by a part of its name."""

    title = parameter_name = "workflow"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip()
        if not value:
            return queryset
        if row_id := read_id(value):
            return queryset.filter(workflow=row_id)
        return queryset.filter(workflow__name__icontains=value)


class CreatedByFilter(AgentFilter):
    title = "created by"


@admin.register(Scratchpad)
class ScratchpadAdmin(NounAdmin):
    menu = Menu("Knowledge", "sticky_note_2")
    when_empty = (
        "Notes that several agents write together, within a workflow, with `scratchpad create` and"
        " `scratchpad append`."
    )
    ref_kind = "scratchpad"
    form = PadForm
    change_form_template = "ctxhub/scratchpad_form.html"
    why_missing = "Perhaps it was deleted or cleaned up?"
    delete_scope = WRITE

    list_display = ("named", "within", "characters", "revision", "by", "updated")
    list_filter = (ProjectFilter, WorkflowFilter, CreatedByFilter)
    list_select_related = ("project", "workflow", "agent")
    search_help_text = "Search in name and content"
    ordering = ("-updated_at", "-pk")

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Scratchpad]:
        """Without contents: a page reads its own."""
        rows: QuerySet[Scratchpad] = super().get_queryset(request)
        return with_writer(rows).defer("content")

    named = column("Scratchpad", lambda pad: preview(pad.name), ordering="name")

    @display(description="Workflow", ordering="workflow__name")
    def within(self, pad: Any) -> SafeString:
        url = pad.shown_in.narrowed_to(workflow=str(pad.workflow_id))
        return format_html('<a class="ctx-chip" href="{}">{}</a>', url, pad.workflow)

    characters = column("Characters", lambda pad: f"{pad.length:,}", ordering="length")
    by = column("Written by", lambda pad: agent_name(pad.writer, pad.writer_id))

    # -- Reading -----------------------------------------------------------------------------------

    def get_row_urls(self) -> list[URLPattern]:
        return [
            self.row_path("raw", self.raw_view),
            self.row_path("revisions", self.revisions_view),
            self.row_path("append", self.append_view),
            self.row_path("restore", self.restore_view),
        ]

    def read_page(self, request: HttpRequest, row: Scratchpad) -> HttpResponse:
        return self._read(request, row, AppendForm())

    def _read(self, request: HttpRequest, pad: Scratchpad, form: AppendForm) -> HttpResponse:
        rendered = read_markdown(pad.content, pages_of_texts(pad.project_id, [pad.content]))
        find = request.GET.get("find", "")
        return self._pad_page(
            request,
            "ctxhub/scratchpad.html",
            pad,
            tab="text",
            rendered=rendered,
            find=find,
            found=find_in(rendered.html, find, pad.content[len(pad.content) - rendered.hidden :]),
            rest=hidden_note(rendered, self.url("raw", pad.pk)),
            form=form if self._may_write(request, pad) else None,
            row_panels=panels_of(self.ref_kind, pad),
        )

    def raw_view(self, request: HttpRequest, pad: Scratchpad) -> HttpResponse:
        lines = numbered_lines(pad.content, request.GET.get("line", ""))
        return self._pad_page(request, "ctxhub/scratchpad_raw.html", pad, tab="raw", lines=lines)

    def revisions_view(self, request: HttpRequest, pad: Scratchpad) -> HttpResponse:
        return self._pad_page(
            request,
            "ctxhub/scratchpad_revisions.html",
            pad,
            tab="revisions",
            **revisions_page(request, revisions_of(pad)),
        )

    def _pad_page(self, request: HttpRequest, template: str, pad: Scratchpad, **context: Any) -> HttpResponse:
        return self.row_page(
            request,
            pad,
            template,
            state=state_of(pad.workflow),
            state_colours=STATE_COLOURS,
            may_write=self._may_write(request, pad),
            may_delete=self.has_delete_permission(request, pad) and pad.workflow.is_active,
            **context,
        )

    def _may_write(self, request: HttpRequest, pad: Scratchpad) -> bool:
        return pad.workflow.is_active and self.has_change_permission(request, pad)

    def _is_allowed(self, request: HttpRequest, pad: Scratchpad) -> bool:
        """Whether the user may write to the pad; if not, adds a message with the reason."""
        if not self.has_change_permission(request, pad):
            messages.error(request, REFUSED)
        elif not pad.workflow.is_active:
            messages.error(request, CLOSED)
        return self._may_write(request, pad)

    # -- Create, rewrite ---------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The workflow of the page that the user came from."""
        return {"workflow": request.GET["workflow"]} if request.GET.get("workflow") else {}

    def get_fieldsets(self, request: HttpRequest, obj: Scratchpad | None = None) -> list[Any]:
        return [(None, {"fields": ["content", "seen"] if obj else ["workflow", "name", "content"]})]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        form = super().get_form(
            request, obj, change=change, **{**kwargs, "form": PadForm if obj else NewPadForm}
        )
        seen = read_id(request.POST.get("seen") or "0") if obj else None
        if seen and seen != obj.revision:
            form.seen_state = find_revision(obj.project_id, obj.pk, seen)
        return form

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *arguments: Any, **options: Any
    ) -> HttpResponse:
        if context["original"]:
            context["title"] = f"Edit {context['original']}"
        return super().render_change_form(request, context, *arguments, **options)

    def add_row(self, request: HttpRequest, row: Scratchpad, form: Any) -> int:
        answer = create_scratchpad(caller=person(), **form.arguments())
        tell_cut(request, answer)
        return answer["scratchpad_id"]

    def change_row(self, request: HttpRequest, row: Scratchpad, form: Any) -> None:
        if "content" not in form.changed_data:
            return
        answer = update_scratchpad(
            caller=person(),
            scratchpad_id=row.pk,
            content=form.cleaned_data["content"],
            expected_revision=form.cleaned_data["seen"],
        )
        tell_cut(request, answer)

    def why_not_editable(self, row: Scratchpad) -> str:
        return "" if row.workflow.is_active else CLOSED

    def deletion_line(self, row: Scratchpad) -> str:
        return f"{row}, with all its revisions. {EVENTS_STAY}"

    def why_not_deletable(self, row: Scratchpad) -> str:
        return self.why_not_editable(row)

    # -- Append, restore ---------------------------------------------------------------------------

    def append_view(self, request: HttpRequest, pad: Scratchpad) -> HttpResponse:
        if request.method != "POST" or not self._is_allowed(request, pad):
            return HttpResponseRedirect(self.page_of_id(pad.pk))
        form = AppendForm(request.POST)
        if append(self, request, pad, form):
            return HttpResponseRedirect(f"{self.page_of_id(pad.pk)}#end")
        return self._read(request, pad, form)

    def restore_view(self, request: HttpRequest, pad: Scratchpad) -> HttpResponse:
        """Handle the button beside a state. Only POST writes: opening the URL changes nothing."""
        page = self.url("revisions", pad.pk)
        if request.method != "POST" or not self._is_allowed(request, pad):
            return HttpResponseRedirect(page)
        return HttpResponseRedirect(page + restore(self, request, pad))
