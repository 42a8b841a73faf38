"""The form of a workflow: name and metadata."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import ObjectField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH


class WorkflowForm(ServiceForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="The work that the scratchpads are shared for.",
    )
    metadata = ObjectField(
        help_text='A JSON object: {"ticket": "OPS-7"}. {"keep": "never"} exempts it from the cleanup.'
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.initial.update(name=self.instance.name, metadata=self.instance.metadata)
