"""Memories: to be found, read with what they have to do with others, written and changed."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.core.admin import refs
from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.cells import chips, name, preview
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter, TagFilter
from ctxhub.core.admin.indexed import IndexedAdmin
from ctxhub.core.admin.lists import FilteredList, ReadableRows
from ctxhub.core.admin.markdown import render_markdown
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.caller import WRITE
from ctxhub.core.errors import CtxhubError
from ctxhub.core.inputs import read_id
from ctxhub.core.templatetags.moments import moment
from memory.admin.filters import ContextFilter, StackFilter
from memory.admin.memory_form import MemoryForm
from memory.admin.memory_relationships import relationships_of
from memory.admin.neighbours import SECTION
from memory.models import Memory
from memory.services.memories import add_memory, delete_memory, update_memory
from memory.services.relationships import relate

RAW = "raw"


class ReadableList(ReadableRows, FilteredList): ...


@admin.register(Memory)
class MemoryAdmin(IndexedAdmin):
    menu = Menu("Knowledge", "lightbulb")
    ref_kind = "memory"
    form = MemoryForm
    change_form_template = "ctxhub/memory_form.html"
    delete_scope = WRITE

    list_display = ("titled", "kind", "within", "stack", "tagged", "cost", "by", "updated")
    list_display_links = ("titled",)
    list_filter = (
        ProjectFilter,
        ContextFilter,
        ("type", ChoicesDropdownFilter),
        StackFilter,
        ("difficulty", ChoicesDropdownFilter),
        TagFilter,
        AgentFilter,
    )
    list_select_related = ("project", "context", "agent")
    search_help_text = "Words of title, content, stack or tags"
    ordering = ("-updated_at", "-pk")

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """Without the long texts: a list shows what each is about, a page reads the whole row by itself."""
        rows: QuerySet[Memory] = super().get_queryset(request)
        return rows.defer("content", "metadata", "paths").prefetch_related("tags")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadableList]:
        return ReadableList

    @display(description="Memory")
    def titled(self, memory: Memory) -> SafeString | str:
        """Its title, and its first sentence where that says something else."""
        if memory.digest in ("", memory.title):
            return preview(memory.title)
        digest = format_html('<span class="ctx-block ctx-quiet ctx-digest">{}</span>', memory.digest)
        return format_html("{}{}", preview(memory.title), digest)

    @display(description="Type", ordering="type", label=True)
    def kind(self, memory: Memory) -> str:
        return memory.get_type_display()

    @display(description="Context", ordering="context__folded")
    def within(self, memory: Any) -> SafeString:
        return chips([memory.context.name], lambda name: memory.shown_in.narrowed_to(context=name))

    @display(description="Tags")
    def tagged(self, memory: Any) -> SafeString | str:
        names = sorted(tag.name for tag in memory.tags.all())
        return chips(names, lambda name: memory.shown_in.narrowed_to(tag=name))

    @display(description="Tokens", ordering="tokens")
    def cost(self, memory: Memory) -> str:
        return f"{memory.tokens:,}"

    @display(description="Agent", ordering="agent__name")
    def by(self, memory: Memory) -> SafeString:
        return name(memory.agent.name if memory.agent else "system")

    @display(description="Updated", ordering="updated_at")
    def updated(self, memory: Memory) -> SafeString | str:
        return moment(memory.updated_at)

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = "<int:memory_id>/"
        return [
            path(own, view(self.read_view), name="memory_memory_read"),
            path(f"{own}relate/", view(self.relate_view), name="memory_memory_relate"),
            *super().get_urls(),
        ]

    def read_view(self, request: HttpRequest, memory_id: int) -> HttpResponse:
        memory = self.get_object(request, str(memory_id))
        if memory is None:
            return self._missing(request, memory_id)
        is_raw = request.GET.get("text") == RAW
        return self.page(
            request,
            "ctxhub/memory.html",
            "Memory",
            row=memory,
            project=memory.project,
            is_raw=is_raw,
            shown="" if is_raw else render_markdown(memory.content, raw_url=f"?text={RAW}"),
            tags=sorted(tag.name for tag in memory.tags.all()),
            metadata=memory.metadata,
            relationships=relationships_of(memory),
            add_relationship=_to_relate(memory),
            list_of_relationships=_list_of_relationships(memory),
            may_change=self.has_change_permission(request, memory),
            may_delete=self.has_delete_permission(request, memory),
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form; whoever may only read is shown the page for reading."""
        memory = self.get_object(request, unquote(object_id))
        if memory and request.method == "GET" and not self.has_change_permission(request, memory):
            return HttpResponseRedirect(self.url("read", memory.pk))
        response: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The log tells all that happened to it, whoever did it."""
        memory = self.get_object(request, unquote(object_id))
        if memory is None:
            return self._missing(request, object_id)
        query = urlencode({"project": memory.project.slug, "ref": memory.ref})
        return HttpResponseRedirect(f"{reverse('admin:core_event_changelist')}?{query}")

    def _missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        messages.warning(request, f"There is no memory {object_id} here. Perhaps it was deleted?")
        return HttpResponseRedirect(self.url("changelist"))

    # -- Writing -----------------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """From the page of a context one adds to that context."""
        return {"context": request.GET["context"]} if request.GET.get("context") else {}

    def get_fieldsets(self, request: HttpRequest, obj: Memory | None = None) -> list[Any]:
        return [
            (None, {"fields": ["title", "content", "seen"]}),
            ("Where it belongs", {"fields": [("context", "stack"), ("type", "difficulty"), "tags", "paths"]}),
            ("More", {"fields": ["metadata"]}),
        ]

    def save_model(self, request: HttpRequest, obj: Memory, form: Any, change: bool) -> None:
        caller, told = person(), form.arguments()
        if change:
            update_memory(caller=caller, memory_id=obj.pk, **told)
            return
        answer = add_memory(caller=caller, **told)
        obj.__dict__ |= Memory.objects.in_project(caller.project).get(pk=answer["id"]).__dict__
        if similar := [f"memory {near['id']} ({near['title']})" for near in answer.get("similar", ())]:
            messages.warning(request, f"Perhaps the same is remembered already: {', '.join(similar)}.")

    def response_post_save_add(self, request: HttpRequest, obj: Memory) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url("read", obj.pk))

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Memory) -> None:
        delete_memory(caller=person(), memory_id=obj.pk)

    def named_with_all_it_takes(self, row: Memory) -> str:
        return f"{row}, and what it has to do with others. That there was such a memory stays in the log."

    def relate_view(self, request: HttpRequest, memory_id: int) -> HttpResponse:
        """By a button beside what is suggested: an address that is merely opened changes nothing."""
        memory = self.get_object(request, str(memory_id))
        if memory is None:
            return self._missing(request, memory_id)
        if request.method == "POST":
            self._relate(request, memory)
        return HttpResponseRedirect(f"{self.url('read', memory.pk)}#{SECTION}")

    def _relate(self, request: HttpRequest, memory: Memory) -> None:
        if not self.has_change_permission(request, memory):
            messages.error(request, "You may read this memory, and not relate it to others.")
            return
        said = {name: request.POST.get(name, "") for name in ("target", "relation")}
        strength = read_id(request.POST.get("strength") or "0") or 0
        try:
            with self.acting_in(request, memory.project):
                relate(caller=person(), source=memory.ref, strength=strength, **said)
        except CtxhubError as refusal:
            messages.error(request, sentence(refusal))
        else:
            messages.success(request, f"It is related to {said['target']} now.")


def _to_relate(memory: Memory) -> str:
    query = urlencode({"project": memory.project.slug, "source": memory.ref})
    return f"{reverse('admin:memory_relationship_add')}?{query}"


def _list_of_relationships(memory: Memory) -> str:
    query = urlencode({"project": memory.project.slug, "q": memory.ref})
    return f"{reverse('admin:memory_relationship_changelist')}?{query}"


def page_of_memory(project_id: int, name: str) -> str | None:
    row_id = read_id(name)
    exists = row_id and Memory.objects.in_project(project_id).filter(pk=row_id).exists()
    return reverse("admin:memory_memory_read", args=[row_id]) if exists else None


refs.pages["memory"] = page_of_memory
refs.carriers.append("admin:memory_memory_changelist")
