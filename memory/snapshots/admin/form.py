"""The form of a new snapshot."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import NamesField, ObjectField, ProseField
from ctxhub.core.admin.service_form import ServiceForm
from memory.snapshots.models.snapshot import ActionType

REF_LENGTH = 250
# What is typed instead of ids, where a blank field would be filled in.
NONE = "none"


class SnapshotForm(ServiceForm):
    content = ProseField(rows=10, help_text="What was done. Markdown is rendered; credentials are masked.")
    summary = ProseField(rows=2, help_text="Left blank: its first sentences.")
    action_type = forms.ChoiceField(
        label="Action",
        choices=[(label, str(label).replace("_", " ")) for label in ActionType.labels],
        initial=ActionType.CONVERSATION.label,
        widget=UnfoldAdminSelectWidget,
    )
    rationale = ProseField(rows=3, help_text="Why it was done.")
    caused_by = forms.CharField(
        label="Cause",
        max_length=REF_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="What it follows from: 17, snapshot:17, or anything else: decision:api/auth",
    )
    dependencies = NamesField(
        help_text='What it rests on besides: 17, 18. Left blank: your last 5 of an hour; "none": nothing.'
    )
    tags = NamesField(
        help_text="Separated by commas; a new name creates a tag. Left blank: up to 5 known tags that the"
        " content is about."
    )
    metadata = ObjectField(help_text='A JSON object: {"ticket": "OPS-7"}')

    def arguments(self) -> dict[str, Any]:
        """The arguments of the service: the filled-in fields. The service refuses a blank content."""
        values = self.filled_in("content")
        if [name.casefold() for name in values.get("dependencies", ())] == [NONE]:
            values["dependencies"] = []
        return values
