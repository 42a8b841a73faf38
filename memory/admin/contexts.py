"""Contexts: what memories lie in, with how many there are."""

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
from ctxhub.core.admin.cells import chips, name, preview, written
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter, TagFilter
from ctxhub.core.admin.indexed import IndexedAdmin
from ctxhub.core.admin.lists import FilteredList, ReadableRows
from ctxhub.core.caller import WRITE
from ctxhub.core.templatetags.moments import moment
from memory.admin.context_form import ContextForm
from memory.models import Context, Memory
from memory.selectors.contexts import find_context
from memory.services.contexts import create_context, delete_context, update_context

NEWEST_SHOWN = 12


class ReadableList(ReadableRows, FilteredList): ...


@admin.register(Context)
class ContextAdmin(IndexedAdmin):
    menu = Menu("Knowledge", "folder_open")
    ref_kind = "context"
    form = ContextForm
    delete_scope = WRITE

    list_display = ("named", "memories", "about", "stack", "tagged", "by", "updated")
    list_display_links = ("named",)
    list_filter = (ProjectFilter, TagFilter, AgentFilter)
    list_select_related = ("project", "agent")
    search_help_text = "Words of name, description, stack or tags"
    ordering = ("-updated_at", "-pk")

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Context]:
        rows: QuerySet[Context] = super().get_queryset(request)
        return rows.prefetch_related("tags")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadableList]:
        return ReadableList

    @display(description="Context", ordering="folded")
    def named(self, context: Context) -> str:
        return context.name

    @display(description="Memories", ordering="memory_count")
    def memories(self, context: Context) -> SafeString | str:
        """How many lie in it, with the way to them."""
        if not context.memory_count:
            return "none yet"
        link = '<a class="ctx-link" href="{}">{}</a>'
        return format_html(link, list_of_memories(context), f"{context.memory_count:,}")

    @display(description="Description")
    def about(self, context: Context) -> SafeString | str:
        return preview(context.description)

    @display(description="Tags")
    def tagged(self, context: Any) -> SafeString | str:
        names = sorted(tag.name for tag in context.tags.all())
        return chips(names, lambda name: context.shown_in.narrowed_to(tag=name))

    @display(description="Agent", ordering="agent__name")
    def by(self, context: Context) -> SafeString:
        return name(context.agent.name if context.agent else "system")

    @display(description="Updated", ordering="updated_at")
    def updated(self, context: Context) -> SafeString | str:
        return moment(context.updated_at)

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        read = self.admin_site.admin_view(self.read_view)
        return [path("<int:context_id>/", read, name="memory_context_read"), *super().get_urls()]

    def read_view(self, request: HttpRequest, context_id: int) -> HttpResponse:
        context = self.get_object(request, str(context_id))
        if context is None:
            return self._missing(request, context_id)
        newest = Memory.objects.in_project(context.project_id).filter(context=context)
        return self.page(
            request,
            "ctxhub/context.html",
            "Context",
            row=context,
            project=context.project,
            tags=sorted(tag.name for tag in context.tags.all()),
            metadata=[(name, written(entry)) for name, entry in context.metadata.items()],
            newest=newest.defer("content", "metadata", "paths").select_related("agent")[:NEWEST_SHOWN],
            list_of_memories=list_of_memories(context),
            add_memory=f"{reverse('admin:memory_memory_add')}?{_query(context)}",
            may_change=self.has_change_permission(request, context),
            may_delete=self.has_delete_permission(request, context),
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form; whoever may only read is shown the page for reading."""
        context = self.get_object(request, unquote(object_id))
        if context and request.method == "GET" and not self.has_change_permission(request, context):
            return HttpResponseRedirect(self.url("read", context.pk))
        response: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The log tells all that happened to it, whoever did it."""
        context = self.get_object(request, unquote(object_id))
        if context is None:
            return self._missing(request, object_id)
        query = urlencode({"project": context.project.slug, "ref": context.ref})
        return HttpResponseRedirect(f"{reverse('admin:core_event_changelist')}?{query}")

    def _missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        messages.warning(request, f"There is no context {object_id} here. Perhaps it was deleted?")
        return HttpResponseRedirect(self.url("changelist"))

    # -- Writing -----------------------------------------------------------------------------------

    def get_fieldsets(self, request: HttpRequest, obj: Context | None = None) -> list[Any]:
        return [(None, {"fields": ["name", "description", ("stack", "tags"), "metadata"]})]

    def save_model(self, request: HttpRequest, obj: Context, form: Any, change: bool) -> None:
        caller, told = person(), form.arguments()
        if change:
            update_context(caller=caller, context=obj.pk, **told)
        else:
            made = create_context(caller=caller, **told)
            obj.__dict__ |= Context.objects.in_project(caller.project).get(pk=made["id"]).__dict__

    def response_post_save_add(self, request: HttpRequest, obj: Context) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url("read", obj.pk))

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Context) -> None:
        delete_context(caller=person(), context=obj.pk)

    def named_with_all_it_takes(self, row: Context) -> str:
        count = row.memory_count
        takes = f"with its {count:,} {'memory' if count == 1 else 'memories'}" if count else "which is empty"
        return f"{row}, {takes}. That there was such a context stays in the log."


def list_of_memories(context: Context) -> str:
    return f"{reverse('admin:memory_memory_changelist')}?{_query(context)}"


def _query(context: Context) -> str:
    return urlencode({"project": context.project.slug, "context": context.name})


def page_of_context(project_id: int, name: str) -> str | None:
    found = find_context(project_id, name) if name.strip() else None
    return reverse("admin:memory_context_read", args=[found.id]) if found else None


refs.pages["context"] = page_of_context
refs.carriers.append("admin:memory_context_changelist")
