"""The form of a memory."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import LinesField, ObjectField, ProseField, WordsField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH
from memory.memories.models.context import STACK_LENGTH, Context
from memory.memories.models.memory import TITLE_LENGTH, Difficulty, Memory, MemoryType

CONTEXTS_OFFERED = 200
GENERAL = "general"


class MemoryForm(ServiceForm):
    """`seen` is when the memory was last changed before the person opened the page.

    Where somebody else has changed it meanwhile, nothing is saved until the person has been told.
    """

    title = forms.CharField(max_length=TITLE_LENGTH, widget=UnfoldAdminTextInputWidget)
    content = ProseField(rows=14, help_text="Markdown is shown as such. The first sentence stands in lists.")
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
        help_text="What it is about: django, react19.",
    )
    difficulty = forms.ChoiceField(
        choices=[("", "not said"), *((label, label) for label in Difficulty.labels)],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    tags = WordsField(help_text="Between commas. A new name makes a new tag.")
    paths = LinesField(help_text="Globs of the files it bears on, one on each line: src/api/**")
    metadata = ObjectField(help_text='A JSON object: {"ticket": "OPS-7"}')
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row, self.is_late = self.instance, False
        if row.pk:
            self.initial.update(self._initial(row))
            self.is_late = self.is_bound and self.data.get("seen") != self.initial["seen"]
            if self.is_late:
                self.data = {**dict(self.data.items()), "seen": self.initial["seen"]}
            self.fields["context"].help_text = "Another one moves it there."
        else:
            self.fields["context"].help_text = "A new name makes a new context."

    def _initial(self, row: Memory) -> dict[str, Any]:
        return {
            **{name: getattr(row, name) for name in ("title", "content", "stack", "paths", "metadata")},
            "context": row.context.name,
            "type": row.get_type_display(),
            "difficulty": row.get_difficulty_display() or "",
            "tags": sorted((tag.name for tag in row.tags.all()), key=str.casefold),
            "seen": row.updated_at.isoformat(),
        }

    def suggestions(self) -> dict[str, list[str]]:
        if self.project is None:
            return {}
        known = Context.objects.in_project(self.project).order_by("-updated_at", "-pk")
        return {"contexts": list(known.values_list("name", flat=True)[:CONTEXTS_OFFERED])}

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.is_late:
            raise ValidationError("Somebody else has changed this memory meanwhile. Nothing was saved.")
        return cleaned

    def arguments(self) -> dict[str, Any]:
        """The arguments of the services: of a new memory what was filled in, else what was changed."""
        values = self.changed() if self.instance.pk else self.filled_in("content")
        values.pop("seen", None)
        return values
