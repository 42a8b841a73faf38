"""The form fields of a project's settings. The service validates them."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from ctxhub.core.accounts.models.config import Config
from ctxhub.core.accounts.selectors.config import config_of, config_values
from ctxhub.core.admin.fields import LinesField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.models import Project

FIELDSET = "How long data is kept"


def _days(label: str, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, help_text=help_text, required=False, widget=UnfoldAdminIntegerFieldWidget
    )


def _switch(label: str, help_text: str) -> forms.BooleanField:
    return forms.BooleanField(
        label=label, help_text=help_text, required=False, widget=UnfoldBooleanSwitchWidget
    )


class ConfigForm(ServiceForm):
    message_hours = _days("Messages, hours", "1 to 168. Unread and unacknowledged messages stay longer.")
    change_days = _days("File changes, days", "1 to 90.")
    ignore_weekend = _switch(
        "Weekends do not count", "Messages and file changes do not age on weekends and holidays."
    )
    time_zone = forms.CharField(
        required=False, widget=UnfoldAdminTextInputWidget, help_text="For example Europe/Berlin."
    )
    holidays = LinesField(help_text="One date per line: 2026-12-25")
    scratchpad_days = _days("Workflows, days", "0 to 365; 0 keeps them forever.")
    session_days = _days("Sessions, days", "0 to 3650; 0 keeps them forever.")
    access_days = _days("File accesses, days", "0 to 3650; 0 keeps them forever.")
    auto_prune = _switch("Prune snapshots", "Deletes expired snapshots that nothing depends on.")
    record_given = _switch("Record what agents are given", "What they open, and the rows of their briefs.")
    tell_stale = _switch("Tell of changes", "Agents that were given a decision hear when it changes.")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.initial.update(config_values(config_of(self.instance.pk)))
        else:
            for name in config_names():
                del self.fields[name]

    def config_values(self) -> dict[str, Any]:
        """The settings that the person changed; None for an emptied one, which resets it to its default."""
        changed = [name for name in config_names() if name in self.changed_data]
        return {name: None if (value := self.cleaned_data[name]) == "" else value for name in changed}


def config_names() -> list[str]:
    return list(config_values(Config()))


def config_fieldsets(project: Project | None) -> list[Any]:
    if project is None:
        return []
    retention = [("message_hours", "change_days"), ("scratchpad_days", "session_days", "access_days")]
    days = ["ignore_weekend", ("time_zone", "holidays")]
    return [
        (FIELDSET, {"fields": retention}),
        ("Days that do not count", {"fields": days}),
        ("Snapshots", {"fields": ["auto_prune"]}),
        ("What agents are given", {"fields": [("record_given", "tell_stale")]}),
    ]
