"""The form of a memory, and the filters of their list."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console.fields import LinesField, NamesField, ObjectField, ProseField
from ctxhub.console.filters import NameFilter
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.unfold_compat import TextFilter
from ctxhub.core.kit.inputs import NAME_LENGTH
from memory.contexts.models import STACK_LENGTH, Context
from memory.memories.models import TITLE_LENGTH, Difficulty, Memory, MemoryType


class ContextFilter(NameFilter):
    title = parameter_name = "context"
    model, lookup = Context, "context"


class StackFilter(TextFilter):
    """Matches the complete stack, ignoring case, as the other interfaces do."""

    title = parameter_name = "stack"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        stack = (self.value() or "").strip().casefold()
        return queryset.filter(folded_stack=stack) if stack else queryset


CONTEXTS_OFFERED = 200
GENERAL = "general"


class MemoryForm(ServiceForm):
    """`seen` is the `updated_at` that the memory had when the user opened the page.

    If somebody else has changed it meanwhile, nothing is saved before the user has been told.
    """

    title = forms.CharField(max_length=TITLE_LENGTH, widget=UnfoldAdminTextInputWidget)
    content = ProseField(rows=14, help_text="Markdown is rendered. Lists show the first sentence.")
    context = forms.CharField(
        max_length=NAME_LENGTH,
        initial=GENERAL,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "contexts", "autocomplete": "off"}),
    )
    type = forms.ChoiceField(
        choices=[(label, label) for label in MemoryType.labels],
        initial=MemoryType.NOTE.label,
        widget=UnfoldAdminSelectWidget,
    )
    stack = forms.CharField(
        max_length=STACK_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="The technology it is about, such as django or react19.",
    )
    difficulty = forms.ChoiceField(
        choices=[("", "not set"), *((label, label) for label in Difficulty.labels)],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    tags = NamesField(help_text="Separated by commas. A new name creates a tag.")
    paths = LinesField(
        help_text="Globs of the files it applies to, one per line: src/*.{ts,tsx}. !src/gen/** exempts."
    )
    metadata = ObjectField(help_text='A JSON object: {"ticket": "OPS-7"}')
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if row.pk:
            self.begin_with("title", "content", "stack", "paths", "metadata")
            self.initial.update(self._chosen(row))
            self.is_outdated = self.is_bound and self.data.get("seen") != self.initial["seen"]
            if self.is_outdated:
                self.data = {**dict(self.data.items()), "seen": self.initial["seen"]}
            self.fields["context"].help_text = "Choosing another context moves the memory there."
        else:
            self.fields["context"].help_text = "A new name creates a context."

    def _chosen(self, row: Memory) -> dict[str, Any]:
        return {
            "context": row.context.name,
            "type": row.get_type_display(),
            "difficulty": row.get_difficulty_display() or "",
            "seen": row.updated_at.isoformat(),
        }

    def suggestions(self) -> dict[str, list[str]]:
        if self.project is None:
            return {}
        known = Context.objects.in_project(self.project).order_by("-updated_at", "-pk")
        return {"contexts": list(known.values_list("name", flat=True)[:CONTEXTS_OFFERED])}

    def arguments(self) -> dict[str, Any]:
        """The arguments of the service: the filled-in fields of a new memory, else the changed ones."""
        values = self.changed() if self.instance.pk else self.filled_in("content")
        values.pop("seen", None)
        return values
