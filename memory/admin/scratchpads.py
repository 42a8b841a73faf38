"""Scratchpads: to be found, read, written to, and taken back to what they were."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.core.admin import refs
from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.cells import name, preview
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter
from ctxhub.core.admin.indexed import IndexedAdmin
from ctxhub.core.admin.lists import FilteredList, ReadableRows
from ctxhub.core.admin.looks import TextFilter
from ctxhub.core.admin.markdown import read_markdown, the_rest
from ctxhub.core.caller import WRITE
from ctxhub.core.inputs import read_id
from ctxhub.core.templatetags.moments import moment
from memory.admin.numbered_lines import numbered_lines
from memory.admin.scratchpad_form import AppendForm, NewPadForm, PadForm
from memory.admin.scratchpad_states import states_page, with_writer
from memory.admin.scratchpad_writes import append, restore, tell_cut
from memory.admin.workflows import STATE_COLOURS, state_of
from memory.models import Scratchpad
from memory.selectors.scratchpads import find_revision
from memory.services.scratchpads import create_scratchpad, delete_scratchpad, update_scratchpad

CLOSED = "Its workflow is closed: until that is opened again, its pads can only be read."
REFUSED = "You may read this scratchpad, and not write to it."


class WorkflowFilter(TextFilter):
    """By a workflow's number, or by a part of its name."""

    title = parameter_name = "workflow"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        said = (self.value() or "").strip()
        if not said:
            return queryset
        if row_id := read_id(said):
            return queryset.filter(workflow=row_id)
        return queryset.filter(workflow__name__icontains=said)


class BegunByFilter(AgentFilter):
    title = "begun by"


class ReadableList(ReadableRows, FilteredList): ...


@admin.register(Scratchpad)
class ScratchpadAdmin(IndexedAdmin):
    menu = Menu("Knowledge", "sticky_note_2")
    ref_kind = "scratchpad"
    form = PadForm
    change_form_template = "ctxhub/scratchpad_form.html"
    delete_scope = WRITE

    list_display = ("named", "within", "characters", "revision", "by", "updated")
    list_display_links = ("named",)
    list_filter = (ProjectFilter, WorkflowFilter, BegunByFilter)
    list_select_related = ("project", "workflow", "agent")
    search_help_text = "Words of name or content"
    ordering = ("-updated_at", "-pk")

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Scratchpad]:
        """Without the texts: a page reads its own by itself."""
        rows: QuerySet[Scratchpad] = super().get_queryset(request)
        return with_writer(rows).defer("content")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadableList]:
        return ReadableList

    @display(description="Scratchpad", ordering="name")
    def named(self, pad: Scratchpad) -> SafeString | str:
        return preview(pad.name)

    @display(description="Workflow", ordering="workflow__name")
    def within(self, pad: Any) -> SafeString:
        url = pad.shown_in.narrowed_to(workflow=str(pad.workflow_id))
        return format_html('<a class="ctx-chip" href="{}">{}</a>', url, pad.workflow)

    @display(description="Characters", ordering="length")
    def characters(self, pad: Scratchpad) -> str:
        return f"{pad.length:,}"

    @display(description="Written by")
    def by(self, pad: Any) -> SafeString:
        return name(pad.writer)

    @display(description="Updated", ordering="updated_at")
    def updated(self, pad: Scratchpad) -> SafeString | str:
        return moment(pad.updated_at)

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = "<int:pad_id>/"
        return [
            path(own, view(self.read_view), name="memory_scratchpad_read"),
            path(f"{own}raw/", view(self.raw_view), name="memory_scratchpad_raw"),
            path(f"{own}revisions/", view(self.revisions_view), name="memory_scratchpad_revisions"),
            path(f"{own}append/", view(self.append_view), name="memory_scratchpad_append"),
            path(f"{own}restore/", view(self.restore_view), name="memory_scratchpad_restore"),
            *super().get_urls(),
        ]

    def read_view(self, request: HttpRequest, pad_id: int) -> HttpResponse:
        pad = self.get_object(request, str(pad_id))
        return self._missing(request, pad_id) if pad is None else self._read(request, pad, AppendForm())

    def _read(self, request: HttpRequest, pad: Scratchpad, form: AppendForm) -> HttpResponse:
        rendered = read_markdown(pad.content)
        rest = the_rest(rendered, self.url("raw", pad.pk))
        may_append = self._may_write(request, pad)
        return self._page(
            request,
            "ctxhub/scratchpad.html",
            pad,
            rendered=rendered,
            rest=rest,
            form=form if may_append else None,
        )

    def raw_view(self, request: HttpRequest, pad_id: int) -> HttpResponse:
        pad = self.get_object(request, str(pad_id))
        if pad is None:
            return self._missing(request, pad_id)
        lines = numbered_lines(pad.content, request.GET.get("line", ""))
        return self._page(request, "ctxhub/scratchpad_raw.html", pad, lines=lines)

    def revisions_view(self, request: HttpRequest, pad_id: int) -> HttpResponse:
        pad = self.get_object(request, str(pad_id))
        if pad is None:
            return self._missing(request, pad_id)
        return self._page(request, "ctxhub/scratchpad_revisions.html", pad, **states_page(request, pad))

    def _page(self, request: HttpRequest, template: str, pad: Scratchpad, **context: Any) -> HttpResponse:
        return self.page(
            request,
            template,
            "Scratchpad",
            row=pad,
            project=pad.project,
            state=state_of(pad.workflow),
            state_colours=STATE_COLOURS,
            may_write=self._may_write(request, pad),
            may_delete=self.has_delete_permission(request, pad) and pad.workflow.is_active,
            **context,
        )

    def _may_write(self, request: HttpRequest, pad: Scratchpad) -> bool:
        return pad.workflow.is_active and self.has_change_permission(request, pad)

    def _is_allowed(self, request: HttpRequest, pad: Scratchpad) -> bool:
        """Whether the person may write to it; if not, they are told why."""
        if not self.has_change_permission(request, pad):
            messages.error(request, REFUSED)
        elif not pad.workflow.is_active:
            messages.error(request, CLOSED)
        return self._may_write(request, pad)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The log tells all that happened to it, whoever did it."""
        pad = self.get_object(request, unquote(object_id))
        if pad is None:
            return self._missing(request, object_id)
        query = urlencode({"project": pad.project.slug, "ref": pad.ref})
        return HttpResponseRedirect(f"{reverse('admin:core_event_changelist')}?{query}")

    def _missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        messages.warning(
            request, f"There is no scratchpad {object_id} here. Perhaps it was deleted or cleaned?"
        )
        return HttpResponseRedirect(self.url("changelist"))

    # -- Begun, rewritten --------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """From the page of a workflow one adds to that workflow."""
        return {"workflow": request.GET["workflow"]} if request.GET.get("workflow") else {}

    def get_fieldsets(self, request: HttpRequest, obj: Scratchpad | None = None) -> list[Any]:
        return [(None, {"fields": ["content", "seen"] if obj else ["workflow", "name", "content"]})]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        form = super().get_form(
            request, obj, change=change, **{**kwargs, "form": PadForm if obj else NewPadForm}
        )
        told = read_id(request.POST.get("seen") or "0") if obj else None
        if told and told != obj.revision:
            form.was = find_revision(obj.project_id, obj.pk, told)
        return form

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form; what cannot be written to is shown as it is read."""
        pad = self.get_object(request, unquote(object_id))
        if pad and request.method == "GET" and not self._may_write(request, pad):
            if self.has_change_permission(request, pad):
                messages.warning(request, CLOSED)
            return HttpResponseRedirect(self.url("read", pad.pk))
        title = f"Edit {pad}" if pad else ""
        response: HttpResponse = super().change_view(
            request, object_id, form_url, {"title": title, **(extra_context or {})}
        )
        return response

    def save_model(self, request: HttpRequest, obj: Scratchpad, form: Any, change: bool) -> None:
        caller = person()
        if not change:
            made = create_scratchpad(caller=caller, **form.arguments())
            obj.__dict__ |= (
                Scratchpad.objects.in_project(caller.project).get(pk=made["scratchpad_id"]).__dict__
            )
            tell_cut(request, made)
        elif "content" in form.changed_data:
            said, seen = form.cleaned_data["content"], form.cleaned_data["seen"]
            answer = update_scratchpad(
                caller=caller, scratchpad_id=obj.pk, content=said, expected_revision=seen
            )
            tell_cut(request, answer)

    def response_post_save_add(self, request: HttpRequest, obj: Scratchpad) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url("read", obj.pk))

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Scratchpad) -> None:
        delete_scratchpad(caller=person(), scratchpad_id=obj.pk)

    def named_with_all_it_takes(self, row: Scratchpad) -> str:
        return f"{row}, with all that it was. That there was such a scratchpad stays in the log."

    def why_kept(self, row: Scratchpad) -> str:
        return "" if row.workflow.is_active else CLOSED

    # -- Added to, taken back ----------------------------------------------------------------------

    def append_view(self, request: HttpRequest, pad_id: int) -> HttpResponse:
        pad = self.get_object(request, str(pad_id))
        if pad is None:
            return self._missing(request, pad_id)
        if request.method != "POST" or not self._is_allowed(request, pad):
            return HttpResponseRedirect(self.url("read", pad.pk))
        form = AppendForm(request.POST)
        if append(self, request, pad, form):
            return HttpResponseRedirect(f"{self.url('read', pad.pk)}#end")
        return self._read(request, pad, form)

    def restore_view(self, request: HttpRequest, pad_id: int) -> HttpResponse:
        """By a button beside a state: an address that is merely opened changes nothing."""
        pad = self.get_object(request, str(pad_id))
        if pad is None:
            return self._missing(request, pad_id)
        page = self.url("revisions", pad.pk)
        if request.method != "POST" or not self._is_allowed(request, pad):
            return HttpResponseRedirect(page)
        return HttpResponseRedirect(page + restore(self, request, pad))


def page_of_scratchpad(project_id: int, name: str) -> str | None:
    row_id = read_id(name)
    exists = row_id and Scratchpad.objects.in_project(project_id).filter(pk=row_id).exists()
    return reverse("admin:memory_scratchpad_read", args=[row_id]) if exists else None


refs.pages["scratchpad"] = page_of_scratchpad
