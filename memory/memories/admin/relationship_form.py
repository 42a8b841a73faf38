"""The form of a relationship: source, relation, target and strength."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import PATH_LENGTH
from memory.memories.models.memory import Memory
from memory.memories.models.relationship import Relation

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
