"""The admin of the vocabulary: layers, tags, scopes and categories."""

from copy import copy
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.access import access_of, shown_project_ids
from ctxhub.console.base import Menu, person
from ctxhub.console.filters import ProjectFilter, lists_filtered_by
from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.urls import in_project
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.queries import count_uses, with_uses
from ctxhub.core.vocabulary.services import add_layer, add_word, delete_word, move_layer, rename_word


class WordForm(ServiceForm):
    name = forms.CharField(max_length=WORD_LENGTH, widget=UnfoldAdminTextInputWidget)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.initial.setdefault("name", self.instance.name)


class WordAdmin(LoggedAdmin):
    """A word of the vocabulary. Renaming applies to all rows that use it; an unused word can be deleted."""

    refs_are_numbers = False
    ref_field = "folded"
    form = WordForm
    list_display = ("name", "uses")
    readonly_fields = ("uses",)
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    search_fields = ("name",)
    ordering: ClassVar[Any] = ("folded",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return with_uses(super().get_queryset(request))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [(None, {"fields": ["name", "uses"] if obj else ["name"]})]

    @display(description="Used by", ordering="uses")
    def uses(self, word: Any) -> SafeString | str:
        """The number of rows that use the word, linked to their lists."""
        if not word.uses:
            return "nothing yet"
        kind = str(self.opts.model_name)
        link = '<a class="ctx-link" href="{}">{}</a>'
        lists = [
            (in_project(url, word.project, **{kind: word.name}), title)
            for url, title in lists_filtered_by(kind)
        ]
        if len(lists) == 1:
            return format_html(link, lists[0][0], word.uses)
        links = format_html_join(", ", link, lists)
        return format_html("{} among {}", word.uses, links)

    def ref_of(self, row: NamedRow) -> str:
        return f"{self.ref_kind}:{row.name}"

    def add_row(self, request: HttpRequest, row: Any, form: Any) -> int:
        row_id: int = self.add_word(form.cleaned_data["name"]).pk
        return row_id

    def change_row(self, request: HttpRequest, row: NamedRow, form: Any) -> None:
        rename_word(caller=person(), word=row, name=form.cleaned_data["name"])

    def add_word(self, name: str) -> NamedRow:
        word: NamedRow = add_word(caller=person(), model=self.model, name=name)
        return word

    def delete_model(self, request: HttpRequest, obj: NamedRow) -> None:
        delete_word(caller=person(), word=obj)

    def why_not_deletable(self, row: Any) -> str:
        uses, kind = count_uses(row), self.opts.verbose_name
        if not uses:
            return ""
        times = "once" if uses == 1 else f"{uses} times"
        return f"The {kind} {row.name!r} cannot be deleted while it is in use. It is used {times}."


@admin.register(Tag)
class TagAdmin(WordAdmin):
    menu = Menu("Vocabulary", "sell")
    when_empty = (
        "Words by which objects are found: a tag comes with the first decision, constraint, memory or"
        " snapshot that has it, as in `decision set`."
    )
    ref_kind = "tag"


@admin.register(Scope)
class ScopeAdmin(WordAdmin):
    menu = Menu("Vocabulary", "account_tree")
    when_empty = (
        "The parts of a system that rules are about: a scope comes with the first `decision set` or"
        " `constraint add` that names it."
    )
    ref_kind = "scope"


@admin.register(Category)
class CategoryAdmin(WordAdmin):
    menu = Menu("Vocabulary", "category")
    when_empty = "The kinds of constraints: a category comes with the first `constraint add` that names it."
    ref_kind = "category"


@admin.register(Layer)
class LayerAdmin(WordAdmin):
    """Project admins keep the few layers. Their position orders every list of layers."""

    menu = Menu("Vocabulary", "layers")
    when_empty = (
        "The layers of a system, for decisions, constraints and changes of files: a new project has"
        " five, and its admins add others here."
    )
    ref_kind = "layer"
    add_scope = change_scope = delete_scope = ADMIN

    ordering = ("project__slug", "position", "pk")
    hide_ordering_field = True
    # Dragging sends the order of one page, so all layers must be on it.
    list_per_page = 1_000

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Runs on a copy: the theme reads `ordering_field`, and all requests share this instance."""
        model_admin = copy(self)
        model_admin.ordering_field = "position" if self._can_be_dragged(request) else None
        response: HttpResponse = super(LayerAdmin, model_admin).changelist_view(request, extra_context)
        return response

    def _can_be_dragged(self, request: HttpRequest) -> bool:
        """Whether the list shows all layers of one project, unfiltered, to an admin of that project."""
        projects, access = shown_project_ids(request), access_of(request)
        is_filtered = any(value for name, value in request.GET.items() if name != "project")
        return len(projects) == 1 and access.may(ADMIN, projects[0]) and not is_filtered

    def add_word(self, name: str) -> NamedRow:
        return add_layer(caller=person(), name=name)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if isinstance(form, WordForm):
            super().save_model(request, obj, form, change)
        else:
            self._move(request, obj)

    def _move(self, request: HttpRequest, layer: Layer) -> None:
        """Moves a dragged layer to its new position."""
        is_shown = layer.project_id in shown_project_ids(request)
        if not is_shown or not self.has_change_permission(request, layer):
            raise PermissionDenied
        caller = find_person(request.user, layer.project.slug)  # type: ignore[arg-type]
        assert caller is not None
        move_layer(caller=caller, layer=layer, position=layer.position)
