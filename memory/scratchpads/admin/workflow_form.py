"""The form of a workflow: its name, and what else there is to say of it."""

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
        help_text="The piece of work that pads are shared for.",
    )
    metadata = ObjectField(
        help_text='A JSON object: {"ticket": "OPS-7"}. With {"keep": "never"} it is never cleaned away.'
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.initial.update(name=self.instance.name, metadata=self.instance.metadata)
