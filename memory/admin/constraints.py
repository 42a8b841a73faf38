"""Constraints: to be found, read, stated, taken out of force and put back."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.core.admin import refs
from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.cells import PREVIEW_CHARACTERS, PRIORITY_COLOURS, chips, name, preview
from ctxhub.core.admin.filters import (
    AgentFilter,
    CategoryFilter,
    LayerFilter,
    ProjectFilter,
    ScopeFilter,
    TagFilter,
)
from ctxhub.core.admin.indexed import IndexedAdmin
from ctxhub.core.admin.lists import FilteredList, ReadableRows
from ctxhub.core.templatetags.moments import moment
from memory.admin.constraint_form import ConstraintForm
from memory.admin.deactivation import deactivate, may_change, set_status
from memory.models import Constraint, ConstraintStatus
from memory.services.constraints import add_constraint, delete_constraint

STATUS_COLOURS = {"active": "success", "inactive": "danger"}


class ReadableList(ReadableRows, FilteredList): ...


@admin.register(Constraint)
class ConstraintAdmin(IndexedAdmin):
    menu = Menu("Knowledge", "rule")
    ref_kind = "constraint"
    form = ConstraintForm
    change_form_template = "ctxhub/constraint_form.html"

    list_display = ("beginning", "kind", "urgency", "state", "layer", "tagged", "by", "added")
    list_display_links = ("beginning",)
    list_filter = (
        ProjectFilter,
        ("status", ChoicesDropdownFilter),
        ("priority", ChoicesDropdownFilter),
        CategoryFilter,
        LayerFilter,
        TagFilter,
        ScopeFilter,
        AgentFilter,
    )
    list_select_related = ("project", "category", "layer", "agent")
    search_help_text = "Words of text, reason, category or tags"
    ordering = ("rank", "-created_at", "-pk")
    actions = ("deactivate_selected", "activate_selected")

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Constraint]:
        """Without the long texts: a list shows how one begins, a page reads the whole row by itself."""
        rows: QuerySet[Constraint] = super().get_queryset(request)
        begins = Left("text", 2 * PREVIEW_CHARACTERS)
        return rows.defer("text", "reason", "paths").annotate(begins=begins).prefetch_related("tags")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadableList]:
        return ReadableList

    @display(description="Constraint")
    def beginning(self, constraint: Any) -> SafeString | str:
        return preview(constraint.begins)

    @display(description="Category", ordering="category__folded")
    def kind(self, constraint: Constraint) -> SafeString:
        return name(constraint.category.name)

    @display(description="Priority", ordering="-priority", label=PRIORITY_COLOURS)
    def urgency(self, constraint: Constraint) -> str:
        return constraint.get_priority_display()

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def state(self, constraint: Constraint) -> str:
        return constraint.get_status_display()

    @display(description="Tags")
    def tagged(self, constraint: Any) -> SafeString | str:
        names = sorted(tag.name for tag in constraint.tags.all())
        return chips(names, lambda name: constraint.shown_in.narrowed_to(tag=name))

    @display(description="Agent", ordering="agent__name")
    def by(self, constraint: Constraint) -> SafeString:
        return name(constraint.agent.name if constraint.agent else "system")

    @display(description="Added", ordering="created_at")
    def added(self, constraint: Constraint) -> SafeString | str:
        return moment(constraint.created_at)

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = "<int:constraint_id>/"
        return [
            path(own, view(self.read_view), name="memory_constraint_read"),
            path(f"{own}deactivate/", view(self.deactivate_view), name="memory_constraint_deactivate"),
            path(f"{own}activate/", view(self.activate_view), name="memory_constraint_activate"),
            *super().get_urls(),
        ]

    def read_view(self, request: HttpRequest, constraint_id: int) -> HttpResponse:
        constraint = self.get_object(request, str(constraint_id))
        if constraint is None:
            return self._missing(request, constraint_id)
        return self.page(
            request,
            "ctxhub/constraint.html",
            "Constraint",
            row=constraint,
            project=constraint.project,
            tags=sorted(tag.name for tag in constraint.tags.all()),
            scopes=sorted(scope.name for scope in constraint.scopes.all()),
            status_colours=STATUS_COLOURS,
            priority_colours=PRIORITY_COLOURS,
            may_change=self.has_change_permission(request, constraint),
            may_delete=self.has_delete_permission(request, constraint),
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """What must hold is not reworded: another text is another constraint."""
        row_id = _id(unquote(object_id))
        if row_id is None:
            return self._missing(request, object_id)
        return HttpResponseRedirect(self.url("read", row_id))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The log tells all that happened to it, whoever did it."""
        constraint = self.get_object(request, unquote(object_id))
        if constraint is None:
            return self._missing(request, object_id)
        query = f"?project={constraint.project.slug}&ref={constraint.ref}"
        return HttpResponseRedirect(reverse("admin:core_event_changelist") + query)

    def _missing(self, request: HttpRequest, object_id: object) -> HttpResponse:
        messages.warning(request, f"There is no constraint {object_id} here. Perhaps it was deleted?")
        return HttpResponseRedirect(self.url("changelist"))

    # -- Writing -----------------------------------------------------------------------------------

    def get_fieldsets(self, request: HttpRequest, obj: Constraint | None = None) -> list[Any]:
        return [
            (None, {"fields": ["category", "text", "priority", "reason"]}),
            ("Where it belongs", {"fields": ["layer", ("tags", "scopes"), "paths"]}),
        ]

    def save_model(self, request: HttpRequest, obj: Constraint, form: Any, change: bool) -> None:
        answer = add_constraint(caller=person(), **form.arguments())
        obj.__dict__ |= Constraint.objects.in_project(person().project).get(pk=answer["id"]).__dict__
        if answer["result"] == "exists":
            messages.warning(request, f"It was stated before. {answer.get('hint', '')}".strip())
            obj.was_stated = True  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: Constraint, post_url_continue: str | None = None
    ) -> HttpResponse:
        if getattr(obj, "was_stated", False):
            return self.response_post_save_add(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def response_post_save_add(self, request: HttpRequest, obj: Constraint) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url("read", obj.pk))

    def delete_model(self, request: HttpRequest, obj: Constraint) -> None:
        delete_constraint(caller=person(), constraint_id=obj.pk)

    def named_with_all_it_takes(self, row: Constraint) -> str:
        return f"{row}. That there was such a constraint stays in the log."

    @admin.action(description="Deactivate the selected constraints", permissions=["change"])
    def deactivate_selected(self, request: HttpRequest, queryset: QuerySet[Constraint]) -> HttpResponse:
        return deactivate(self, request, list(queryset), self.url("changelist"))

    @admin.action(description="Activate the selected constraints", permissions=["change"])
    def activate_selected(self, request: HttpRequest, queryset: QuerySet[Constraint]) -> None:
        constraints = list(queryset)
        if may_change(self, request, constraints):
            set_status(self, request, constraints, ConstraintStatus.ACTIVE)

    def deactivate_view(self, request: HttpRequest, constraint_id: int) -> HttpResponse:
        constraint = self.get_object(request, str(constraint_id))
        if constraint is None:
            return self._missing(request, constraint_id)
        return deactivate(self, request, [constraint], self.url("read", constraint.pk))

    def activate_view(self, request: HttpRequest, constraint_id: int) -> HttpResponse:
        """By a button: an address that is merely opened changes nothing."""
        constraint = self.get_object(request, str(constraint_id))
        if constraint is None:
            return self._missing(request, constraint_id)
        if request.method == "POST" and may_change(self, request, [constraint]):
            set_status(self, request, [constraint], ConstraintStatus.ACTIVE)
        return HttpResponseRedirect(self.url("read", constraint.pk))


def _id(text: str) -> int | None:
    """The number that an address or a ref holds, if a database can hold it."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def page_of_id(project_id: int, name: str) -> str | None:
    row_id = _id(name)
    exists = row_id and Constraint.objects.in_project(project_id).filter(pk=row_id).exists()
    return reverse("admin:memory_constraint_read", args=[row_id]) if exists else None


refs.pages["constraint"] = page_of_id
refs.carriers.append("admin:memory_constraint_changelist")
