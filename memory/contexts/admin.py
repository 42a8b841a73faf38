"""The admin of contexts, with their numbers of memories."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import column, preview
from ctxhub.console.fields import NamesField, ObjectField, ProseField
from ctxhub.console.filters import AgentFilter, ProjectFilter, TagFilter
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.pages import NounAdmin
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.inputs import NAME_LENGTH
from memory.contexts.models import STACK_LENGTH, Context
from memory.contexts.queries import find_context
from memory.contexts.services import create_context, update_context
from memory.memories.models import Memory


class ContextForm(ServiceForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        widget=UnfoldAdminTextInputWidget,
        help_text="Agents use this name when they add a memory. It must not be all digits.",
    )
    description = ProseField(rows=4, help_text="Which memories belong in this context.")
    stack = forms.CharField(
        max_length=STACK_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="The technology it is about, such as django or react19.",
    )
    tags = NamesField(help_text="Separated by commas. A new name creates a tag.")
    metadata = ObjectField(help_text='A JSON object: {"owner": "platform"}')

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.begin_with("name", "description", "stack", "metadata")


NEWEST_SHOWN = 12


@admin.register(Context)
class ContextAdmin(NounAdmin):
    menu = Menu("Knowledge", "folder_open")
    when_empty = (
        "What memories are about, each in one context: it comes with `memory context_create`, or with"
        " the first `memory add` that names it."
    )
    ref_kind = "context"
    form = ContextForm
    read_template = "ctxhub/context.html"
    delete_scope = WRITE
    texts = ("description",)

    list_display = ("named", "memories", "about", "stack", "tagged", "by", "updated")
    row_parts = RowParts(text="about")
    list_filter = (ProjectFilter, TagFilter, AgentFilter)
    search_help_text = "Search in name, description, stack and tags"

    def get_fieldsets(self, request: HttpRequest, obj: Context | None = None) -> list[Any]:
        return [(None, {"fields": ["name", "description", ("stack", "tags"), "metadata"]})]

    # -- Finding -----------------------------------------------------------------------------------

    named = column("Context", lambda context: context.name, ordering="folded")

    @display(description="Memories", ordering="memory_count")
    def memories(self, context: Context) -> SafeString | str:
        """The number of memories, with a link to their list."""
        if not context.memory_count:
            return "none yet"
        link = '<a class="ctx-link" href="{}">{}</a>'
        return format_html(link, list_of_memories(context), f"{context.memory_count:,}")

    about = column("Description", lambda context: preview(context.description))

    # -- Reading -----------------------------------------------------------------------------------

    def find_id(self, project_id: int, name: str) -> int | None:
        found = find_context(project_id, name) if name.strip() else None
        return found.id if found else None

    def get_read_context(self, request: HttpRequest, row: Context) -> dict[str, Any]:
        newest = Memory.objects.in_project(row.project_id).filter(context=row)
        return {
            "newest": newest.defer("content", "metadata", "paths").select_related("agent")[:NEWEST_SHOWN],
            "list_of_memories": list_of_memories(row),
            "add_memory": in_project(reverse("admin:memory_memory_add"), row.project, context=row.name),
        }

    # -- Writing -----------------------------------------------------------------------------------

    def add_row(self, request: HttpRequest, row: Context, form: Any) -> int:
        return create_context(caller=person(), **form.changed())["id"]

    def change_row(self, request: HttpRequest, row: Context, form: Any) -> None:
        update_context(caller=person(), context=row.pk, **form.changed())

    def deletion_line(self, row: Context) -> str:
        count = row.memory_count
        takes = f"with its {count:,} {'memory' if count == 1 else 'memories'}" if count else "which is empty"
        return f"{row}, {takes}. {EVENTS_STAY}"


def list_of_memories(context: Context) -> str:
    return list_url("memory_memory", context.project, context=context.name)
