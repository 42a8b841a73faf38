"""Admin pages of constraints: list, read, add, deactivate, activate, delete."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import PREVIEW_CHARACTERS, PRIORITY_COLOURS, column, name, preview
from ctxhub.console.fields import LinesField, NamesField, ProseField
from ctxhub.console.filters import (
    AgentFilter,
    CategoryFilter,
    LayerFilter,
    ProjectFilter,
    ScopeFilter,
    TagFilter,
)
from ctxhub.console.row_actions import row_action
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.stale import PathRowsAdmin, StaleFilter
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.priority import Priority
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.vocabulary.models import Category
from memory.constraints.models import Constraint, ConstraintStatus
from memory.constraints.services import add_constraint, change_status, delete_constraint

CATEGORIES_OFFERED = 200


class ConstraintForm(ServiceForm):
    category = forms.CharField(
        max_length=WORD_LENGTH,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "categories", "autocomplete": "off"}),
        help_text="A new name creates a new category.",
    )
    text = ProseField(rows=4, help_text="What must hold, worded so that it can be checked.")
    priority = forms.ChoiceField(
        choices=[(label, label) for label in reversed(Priority.labels)],
        initial=Priority.MEDIUM.label,
        widget=UnfoldAdminSelectWidget,
    )
    reason = ProseField(rows=3, help_text="Why it must hold.")
    layer = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    tags = NamesField(help_text="Separated by commas. A new name creates a new tag.")
    scopes = NamesField(help_text="Separated by commas. A new name creates a new scope.")
    paths = LinesField(
        help_text="Globs of the files it applies to, one per line: src/*.{ts,tsx}. !src/gen/** exempts."
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.offer_layers()

    def suggestions(self) -> dict[str, list[str]]:
        if self.project is None:
            return {}
        categories = Category.objects.in_project(self.project).order_by("folded")
        return {"categories": list(categories.values_list("name", flat=True)[:CATEGORIES_OFFERED])}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `add_constraint`. The service refuses an empty text."""
        return self.filled_in("text")


class DeactivateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was added. The log keeps this reason.")


STATUS_COLOURS = {"active": "success", "inactive": "danger"}


@admin.register(Constraint)
class ConstraintAdmin(PathRowsAdmin):
    menu = Menu("Knowledge", "rule")
    when_empty = "Rules that all work must keep: agents add one with `constraint add`, people here."
    ref_kind = "constraint"
    form = ConstraintForm
    read_template = "ctxhub/constraint.html"
    has_change_form = False
    long = ("text", "reason", "paths")
    texts = ("text", "reason")

    list_display = ("beginning", "kind", "urgency", "state", "layer", "tagged", "by", "added")
    list_filter = (
        ProjectFilter,
        ("status", ChoicesDropdownFilter),
        ("priority", ChoicesDropdownFilter),
        CategoryFilter,
        LayerFilter,
        TagFilter,
        ScopeFilter,
        AgentFilter,
        StaleFilter,
    )
    list_select_related = ("project", "category", "layer", "agent")
    search_help_text = "Words of text, reason, category or tags"

    def get_fieldsets(self, request: HttpRequest, obj: Constraint | None = None) -> list[Any]:
        return [
            (None, {"fields": ["category", "text", "priority", "reason"]}),
            ("Where it belongs", {"fields": ["layer", ("tags", "scopes"), "paths"]}),
        ]

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Constraint]:
        """Defer the long texts: lists show the beginning of the text; the page of a row reads all of it."""
        rows: QuerySet[Constraint] = super().get_queryset(request)
        begins = Left("text", 2 * PREVIEW_CHARACTERS)
        return rows.annotate(begins=begins)

    beginning = column("Constraint", lambda constraint: preview(constraint.begins))
    kind = column("Category", lambda constraint: name(constraint.category.name), ordering="category__folded")
    urgency = column(
        "Priority",
        lambda constraint: constraint.get_priority_display(),
        ordering="-priority",
        label=PRIORITY_COLOURS,
    )
    state = column(
        "Status", lambda constraint: constraint.get_status_display(), ordering="status", label=STATUS_COLOURS
    )
    added = column("Added", lambda constraint: moment(constraint.created_at), ordering="created_at")

    # -- Reading -----------------------------------------------------------------------------------

    def get_read_context(self, request: HttpRequest, row: Constraint) -> dict[str, Any]:
        return {
            "title": str(row),
            "is_whole_title": row.text == str(row),
            "scopes": sorted(scope.name for scope in row.scopes.all()),
            "status_colours": STATUS_COLOURS,
            "priority_colours": PRIORITY_COLOURS,
        }

    # -- Writing -----------------------------------------------------------------------------------

    def add_row(self, request: HttpRequest, row: Any, form: Any) -> int:
        answer = add_constraint(caller=person(), **form.arguments())
        if answer["result"] == "exists":
            messages.warning(request, f"This constraint already exists. {answer.get('hint', '')}".strip())
            row.already_exists = True
        return answer["id"]

    def response_add(
        self, request: HttpRequest, obj: Constraint, post_url_continue: str | None = None
    ) -> HttpResponse:
        if getattr(obj, "already_exists", False):
            return self.response_post_save_add(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def delete_model(self, request: HttpRequest, obj: Constraint) -> None:
        delete_constraint(caller=person(), constraint_id=obj.pk)

    @row_action("Deactivate the selected constraints", template="ctxhub/deactivate.html", form=DeactivateForm)
    def deactivate(self, request: HttpRequest, constraints: Sequence[Constraint], reason: str) -> None:
        self._set_status(request, constraints, ConstraintStatus.INACTIVE, reason)

    @row_action("Activate the selected constraints")
    def activate(self, request: HttpRequest, constraints: Sequence[Constraint]) -> None:
        self._set_status(request, constraints, ConstraintStatus.ACTIVE)

    def _set_status(
        self,
        request: HttpRequest,
        constraints: Sequence[Constraint],
        status: ConstraintStatus,
        reason: str = "",
    ) -> None:
        """Set the status of all rows and report how many changed."""

        def change(row: Constraint) -> bool:
            answer = change_status(caller=person(), constraint_id=row.pk, status=status, reason=reason)
            return answer["result"] == "updated"

        changed = sum(self.write_each(request, constraints, change))
        noun = "constraint is" if changed == 1 else "constraints are"
        messages.success(request, f"{changed} {noun} {status.label} now.")
