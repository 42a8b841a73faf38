"""The admin of relationships between objects of any kind."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console.access import chosen_project, shown_project_ids
from ctxhub.console.base import Menu, person
from ctxhub.console.columns import column, mono, preview, time_in_full
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.graphs.trees import Node, worded
from ctxhub.console.lists import FilteredList
from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.service_form import ServiceForm
from ctxhub.core.hub.refs import ObjectKey, find_objects
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.lengths import PATH_LENGTH
from memory.memories.models import Memory
from memory.relationships.graph import SECTION, ends_of, nodes_of
from memory.relationships.models import Relation, Relationship
from memory.relationships.queries import get_ends
from memory.relationships.services import relate, unrelate

MEMORIES_OFFERED = 100
REF = "A ref, such as memory:42, decision:api/auth/method or scratchpad:3."


class OfferedRefs(UnfoldAdminTextInputWidget):
    def __init__(self) -> None:
        super().__init__(attrs={"list": "refs", "autocomplete": "off"})


class RelationshipForm(ServiceForm):
    source = forms.CharField(max_length=PATH_LENGTH, widget=OfferedRefs, help_text=REF)
    relation = forms.ChoiceField(
        choices=[(label, label.replace("_", " ")) for label in Relation.labels],
        widget=UnfoldAdminSelectWidget,
        help_text="What the source does to the target: it includes, references, depends on or blocks it.",
    )
    target = forms.CharField(max_length=PATH_LENGTH, widget=OfferedRefs, help_text=REF)
    strength = forms.IntegerField(
        min_value=0,
        max_value=100,
        initial=50,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="From 0 to 100.",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if row.pk:
            for name in ("source", "relation", "target"):
                del self.fields[name]
            self.initial["strength"] = row.strength

    def memories(self) -> list[Memory]:
        """The newest memories, which the form suggests."""
        if self.project is None:
            return []
        newest = Memory.objects.in_project(self.project).only("title").order_by("-updated_at", "-pk")
        return list(newest[:MEMORIES_OFFERED])

    def arguments(self) -> dict[str, Any]:
        return dict(self.cleaned_data)


RELATION_COLOURS = {"depends on": "warning", "blocks": "danger", "includes": "success", "references": "info"}
PROJECTS_LOOKED_IN = 30


class NamedEnds(FilteredList):
    """Gives the rows of a page the titles of their ends, with one query for each kind."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        name_ends(list(self.result_list))


def name_ends(rows: list[Any]) -> None:
    by_project: dict[int, list[Any]] = {}
    for row in rows:
        by_project.setdefault(row.project_id, []).append(row)
    for project_id, own in by_project.items():
        nodes = nodes_of(project_id, [end for row in own for end in ends_of(row)])
        for row in own:
            row.ends = nodes


@admin.register(Relationship)
class RelationshipAdmin(LoggedAdmin):
    menu = Menu("Knowledge", "graph_2")
    when_empty = (
        "What one object has to do with another, and how strongly: agents say it with `memory relate`,"
        " people here."
    )
    form = RelationshipForm
    change_form_template = "ctxhub/relationship_form.html"
    ref_kind = "relationship"
    delete_scope = WRITE

    list_display = ("told", "relates", "source_ref", "target_ref", "how_strong", "by", "updated")
    list_filter = (ProjectFilter, ("relation", ChoicesDropdownFilter), AgentFilter)
    list_select_related = ("project", "agent")
    search_fields = ("pk",)
    search_help_text = "The ref of either end, such as memory:42"
    readonly_fields = ("source_end", "relates", "target_end", "origin", "by", "last_changed")

    # -- Finding -----------------------------------------------------------------------------------

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[NamedEnds]:
        return NamedEnds

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        kind, _, name = search_term.strip().partition(":")
        if not kind:
            return queryset, False
        if kind == self.ref_kind:
            return queryset.filter(pk=read_id(name)), False
        wanted = Q(pk__in=())
        for project_id, kind, row_id in _objects_named(request, search_term):
            ends = Q(source_kind=kind, source_id=row_id) | Q(target_kind=kind, target_id=row_id)
            wanted |= Q(project=project_id) & ends
        return queryset.filter(wanted), False

    relates = column(
        "Relation",
        lambda row: worded(row.get_relation_display()),
        ordering="relation",
        label=RELATION_COLOURS,
    )
    told = column("Relationship", lambda row: _told(row))
    source_ref = column("Source", lambda row: _link(row, ends_of(row)[0]))
    target_ref = column("Target", lambda row: _link(row, ends_of(row)[1]))
    source_end = column("Source", lambda row: _end(row, ends_of(row)[0]))
    target_end = column("Target", lambda row: _end(row, ends_of(row)[1]))
    how_strong = column("Strength", lambda row: strength_bar(row.strength), ordering="strength")
    origin = column(
        "Origin", lambda row: "suggested by similarity" if row.is_found else "entered", ordering="is_found"
    )

    last_changed = time_in_full("updated_at", "Updated")

    def ref_of(self, row: Relationship) -> str:
        return f"{self.ref_kind}:{row.pk}"

    # -- Writing -----------------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The ends that the page the user came from has set."""
        return {end: request.GET[end] for end in ("source", "target") if request.GET.get(end)}

    def get_fieldsets(self, request: HttpRequest, obj: Relationship | None = None) -> list[Any]:
        if obj is None:
            return [(None, {"fields": ["source", "relation", "target", "strength"]})]
        fields = ["source_end", "relates", "target_end", "strength", "origin", "by", "last_changed"]
        return [(None, {"fields": fields})]

    def add_row(self, request: HttpRequest, row: Relationship, form: Any) -> int:
        values = form.arguments()
        relate(caller=person(), **values)
        return _find_stored(person().project_id, values).pk

    def change_row(self, request: HttpRequest, row: Relationship, form: Any) -> None:
        source, target = _refs_of_ends(row)
        relation = row.get_relation_display()
        relate(caller=person(), source=source, target=target, relation=relation, **form.arguments())

    def response_post_save_add(self, request: HttpRequest, obj: Relationship) -> HttpResponseRedirect:
        """Redirect to the memory at one end, or to the list if neither end is a memory."""
        memory_id = next((row_id for kind, row_id in ends_of(obj) if kind == "memory"), None)
        if memory_id is None:
            return HttpResponseRedirect(self.url("changelist"))
        return HttpResponseRedirect(f"{reverse('admin:memory_memory_read', args=[memory_id])}#{SECTION}")

    response_post_save_change = response_post_save_add

    def delete_model(self, request: HttpRequest, obj: Relationship) -> None:
        source, target = _refs_of_ends(obj)
        unrelate(caller=person(), source=source, target=target, relation=obj.get_relation_display())

    def deletion_line(self, row: Relationship) -> str:
        source, target = _refs_of_ends(row)
        return f"{source} {worded(row.get_relation_display())} {target}. Both objects stay as they are."


def strength_bar(strength: int) -> SafeString:
    bar = (
        '<span class="ctx-strength"><span class="ctx-score"><span style="width: {}%"></span></span>{}</span>'
    )
    return format_html(bar, strength, strength)


# -- Pieces ----------------------------------------------------------------------------------------


def _told(row: Any) -> SafeString:
    """The relationship in one line: the titles of its ends, which have links on its page."""
    source, target = (_title(row, key) for key in ends_of(row))
    words = worded(row.get_relation_display())
    return format_html('{} <span class="ctx-quiet">{}</span> {}', source, words, target)


def _link(row: Any, key: ObjectKey) -> SafeString | str:
    node: Node | None = row.ends.get(key)
    if node is None or not node.url:
        return mono(node.ref if node else f"{key[0]}:{key[1]}")
    return format_html('<a class="ctx-link" href="{}">{}</a>', node.url, mono(node.ref))


def _title(row: Any, key: ObjectKey) -> SafeString:
    node: Node | None = row.ends.get(key)
    ref = f"{key[0]}:{key[1]}"
    return format_html('<bdi title="{}">{}</bdi>', node.ref if node else ref, node.title if node else ref)


def _end(row: Any, key: ObjectKey) -> SafeString | str:
    """The object at an end, with a link to it. The page of a single row reads its ends here."""
    if not hasattr(row, "ends"):
        name_ends([row])
    node: Node | None = row.ends.get(key)
    if node is None:
        return mono(f"{key[0]}:{key[1]}")
    title = preview(node.title)
    shown = format_html('<a class="ctx-link" href="{}">{}</a>', node.url, title) if node.url else title
    return format_html('{}<span class="ctx-block ctx-quiet ctx-mono">{}</span>', shown, node.ref)


def _find_stored(project_id: int, values: Mapping[str, Any]) -> Relationship:
    """The row that `relate` has just written."""
    source, target = get_ends(project_id, values["source"], values["target"])
    return Relationship.objects.in_project(project_id).get(
        source_kind=source.kind,
        source_id=source.id,
        target_kind=target.kind,
        target_id=target.id,
        relation=Relation[values["relation"].upper()],
    )


def _refs_of_ends(row: Relationship) -> tuple[str, str]:
    """The refs of both ends as agents use them: a decision by its key."""
    objects = find_objects(row.project_id, ends_of(row))
    source, target = map(objects.get, ends_of(row))
    return source.ref if source else row.source, target.ref if target else row.target


def _objects_named(request: HttpRequest, ref: str) -> list[tuple[int, str, int]]:
    """Project, kind and id of the object of a ref, in each project searched."""
    project = chosen_project(request)
    found = []
    for project_id in [project.pk] if project else shown_project_ids(request)[:PROJECTS_LOOKED_IN]:
        with suppress(CtxhubError):
            [obj] = get_ends(project_id, ref)
            found.append((project_id, *obj.place))
    return found
