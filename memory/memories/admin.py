"""The admin of memories: lists, pages with relationships, and forms."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import chips, column, preview
from ctxhub.console.filters import AgentFilter, ProjectFilter, TagFilter
from ctxhub.console.graphs.layout import Drawing, tall, wide
from ctxhub.console.graphs.trees import Graph, Node, worded
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.markdown import render_markdown
from ctxhub.console.revisions import Revisions, restore_revision, revisions_page
from ctxhub.console.stale import PathRowsAdmin, StaleFilter
from ctxhub.console.text_refs import pages_of_texts
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.hub.refs import ObjectKey, find_objects
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from memory.memories.form import ContextFilter, MemoryForm, StackFilter
from memory.memories.models import Memory
from memory.memories.queries import get_memory
from memory.memories.revisions import find_state, find_states
from memory.memories.services import add_memory, restore_memory, update_memory
from memory.relationships.graph import FORWARDS, SECTION, Neighbours, neighbours_of, sides_of
from memory.relationships.queries import suggest_relationships
from memory.relationships.services import relate

if TYPE_CHECKING:
    from memory.memories.revisions import MemoryState


SUGGESTED_SHOWN = 5


@frozen
class Suggestion:
    """A memory similar to this one, with a possible relation. `percent`: the similarity."""

    other: Node
    relation: str
    words: str
    strength: int
    percent: int


@frozen
class Relationships:
    neighbours: Neighbours
    suggested: Sequence[Suggestion]
    drawings: Sequence[Drawing]


def relationships_of(memory: Memory) -> Relationships:
    """Relationships of a memory, with drawings if there are any. Raises Http404 if it is deleted by now."""
    key: ObjectKey = ("memory", memory.pk)
    obj = find_objects(memory.project_id, [key]).get(key)
    if obj is None:
        raise Http404
    found = {
        ("memory", each.target): each
        for each in suggest_relationships(memory.project_id, obj, limit=SUGGESTED_SHOWN)
    }
    possible = [(other, str(each.relation.label), each.strength) for other, each in found.items()]
    neighbours = neighbours_of(memory.project_id, key, possible)
    suggested = [
        Suggestion(
            other=neighbours.nodes[other],
            relation=label,
            words=FORWARDS.get(label, worded(label)),
            strength=strength,
            percent=round(100 * found[other].score),
        )
        for other, label, strength in possible
        if other in neighbours.nodes
    ]
    return Relationships(neighbours, suggested, _drawings(neighbours.graph))


def _drawings(graph: Graph) -> list[Drawing]:
    return [wide(graph, *sides_of(graph)), tall(graph)] if graph.branches else []


def revisions_of(memory: Memory) -> "Revisions[MemoryState]":
    """Title and content are compared as one text."""
    row = get_memory(memory.project_id, memory.pk)
    return Revisions(
        project_id=memory.project_id,
        present=row.revision,
        find=partial(find_states, memory.project_id, row),
        read=partial(find_state, memory.project_id, row),
        text=lambda state: as_text(state.title, state.content),
        change=lambda state: "added" if state.revision == 1 else "changed",
        size=lambda state: state.tokens,
        unit="tokens",
    )


def as_text(title: str, content: str) -> str:
    return f"{title}\n\n{content}"


RAW = "raw"


@admin.register(Memory)
class MemoryAdmin(PathRowsAdmin):
    menu = Menu("Knowledge", "lightbulb")
    when_empty = (
        "What was learned and should be known the next time: agents keep it with `memory add` or `memory"
        " capture`, people here."
    )
    ref_kind = "memory"
    form = MemoryForm
    change_form_template = "ctxhub/memory_form.html"
    read_template = "ctxhub/memory.html"
    delete_scope = WRITE

    long = ("content", "metadata", "paths")
    list_display = ("titled", "kind", "within", "stack", "tagged", "cost", "by", "updated")
    list_filter = (
        ProjectFilter,
        ContextFilter,
        ("type", ChoicesDropdownFilter),
        StackFilter,
        ("difficulty", ChoicesDropdownFilter),
        TagFilter,
        AgentFilter,
        StaleFilter,
    )
    list_select_related = ("project", "context", "agent")
    search_help_text = "Search in title, content, stack and tags"

    def get_fieldsets(self, request: HttpRequest, obj: Memory | None = None) -> list[Any]:
        return [
            (None, {"fields": ["title", "content", "seen"]}),
            ("Where it belongs", {"fields": [("context", "stack"), ("type", "difficulty"), "tags", "paths"]}),
            ("More", {"fields": ["metadata"]}),
        ]

    # -- Finding -----------------------------------------------------------------------------------

    @display(description="Memory")
    def titled(self, memory: Memory) -> SafeString | str:
        """The title, and the first sentence if it differs."""
        if memory.digest in ("", memory.title):
            return preview(memory.title)
        digest = format_html('<span class="ctx-block ctx-quiet ctx-digest">{}</span>', memory.digest)
        return format_html("{}{}", preview(memory.title), digest)

    kind = column("Type", lambda memory: memory.get_type_display(), ordering="type", label=True)
    within = column(
        "Context",
        lambda memory: chips([memory.context.name], lambda name: memory.shown_in.narrowed_to(context=name)),
        ordering="context__folded",
    )
    cost = column("Tokens", lambda memory: f"{memory.tokens:,}", ordering="tokens")

    # -- Reading -----------------------------------------------------------------------------------

    def get_row_urls(self) -> list[URLPattern]:
        return [
            self.row_path("relate", self.relate_view),
            self.row_path("revisions", self.revisions_view),
            self.row_path("restore", self.restore_view),
        ]

    def get_read_context(self, request: HttpRequest, row: Memory) -> dict[str, Any]:
        is_raw = request.GET.get("text") == RAW
        pages = {} if is_raw else pages_of_texts(row.project_id, [row.content])
        return {
            "tab": RAW if is_raw else "text",
            "shown": "" if is_raw else render_markdown(row.content, raw_url=f"?text={RAW}", pages=pages),
            "relationships": relationships_of(row),
            "add_relationship": _to_relate(row),
            "list_of_relationships": _list_of_relationships(row),
        }

    def revisions_view(self, request: HttpRequest, memory: Memory) -> HttpResponse:
        return self.row_page(
            request,
            memory,
            "ctxhub/memory_revisions.html",
            tab="revisions",
            may_write=self.has_change_permission(request, memory),
            add_relationship=_to_relate(memory),
            **revisions_page(request, revisions_of(memory)),
        )

    # -- Writing -----------------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The context of the page that the user came from."""
        return {"context": request.GET["context"]} if request.GET.get("context") else {}

    def add_row(self, request: HttpRequest, row: Memory, form: Any) -> int:
        answer = add_memory(caller=person(), **form.arguments())
        if similar := [f"memory {near['id']} ({near['title']})" for near in answer.get("similar", ())]:
            messages.warning(request, f"Similar memories already exist: {', '.join(similar)}.")
        return answer["id"]

    def change_row(self, request: HttpRequest, row: Memory, form: Any) -> None:
        update_memory(caller=person(), memory_id=row.pk, **form.arguments())

    def deletion_line(self, row: Memory) -> str:
        return f"{row}, with its relationships and revisions. {EVENTS_STAY}"

    def restore_view(self, request: HttpRequest, memory: Memory) -> HttpResponse:
        """Handle the button beside a state. Only POST writes: opening the URL changes nothing."""
        page = self.url("revisions", memory.pk)
        if request.method != "POST":
            return HttpResponseRedirect(page)
        if not self.has_change_permission(request, memory):
            messages.error(request, "You can read this memory, but you cannot change it.")
            return HttpResponseRedirect(page)

        def write(revision: int, seen: int) -> Any:
            return restore_memory(
                caller=person(), memory_id=memory.pk, revision=revision, expected_revision=seen
            )

        return HttpResponseRedirect(page + restore_revision(self, request, memory, write))

    def relate_view(self, request: HttpRequest, memory: Memory) -> HttpResponse:
        """Handle the button beside a suggestion. Only POST writes: opening the URL changes nothing."""
        if request.method == "POST":
            self._relate(request, memory)
        return HttpResponseRedirect(f"{self.page_of_id(memory.pk)}#{SECTION}")

    def _relate(self, request: HttpRequest, memory: Memory) -> None:
        if not self.has_change_permission(request, memory):
            messages.error(request, "You can read this memory, but you cannot change its relationships.")
            return
        target, relation = (request.POST.get(name, "") for name in ("target", "relation"))
        strength = read_id(request.POST.get("strength") or "0") or 0

        def write() -> Any:
            return relate(
                caller=person(), source=memory.ref, target=target, relation=relation, strength=strength
            )

        if self.try_to_write(request, memory, write, partial(messages.error, request)):
            messages.success(request, f"It is now related to {target}.")


def _to_relate(memory: Memory) -> str:
    return in_project(reverse("admin:memory_relationship_add"), memory.project, source=memory.ref)


def _list_of_relationships(memory: Memory) -> str:
    return list_url("memory_relationship", memory.project, q=memory.ref)
