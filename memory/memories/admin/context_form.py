"""The form of a context."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import NamesField, ObjectField, ProseField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH
from memory.memories.models.context import STACK_LENGTH


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
        row = self.instance
        if row.pk:
            self.initial.update(
                {
                    **{name: getattr(row, name) for name in ("name", "description", "stack", "metadata")},
                    "tags": sorted((tag.name for tag in row.tags.all()), key=str.casefold),
                }
            )
