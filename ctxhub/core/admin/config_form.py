"""A project's settings, as fields of its form: typed here, judged by the service."""

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

FIELDSET = "How long things are kept"


def _days(label: str, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, help_text=help_text, required=False, widget=UnfoldAdminIntegerFieldWidget
    )


def _switch(label: str, help_text: str) -> forms.BooleanField:
    return forms.BooleanField(
        label=label, help_text=help_text, required=False, widget=UnfoldBooleanSwitchWidget
    )


class ConfigForm(ServiceForm):
    message_hours = _days("Messages, hours", "1 to 168. What awaits a reader or an ack stays longer.")
    change_days = _days("File changes, days", "1 to 90.")
    ignore_weekend = _switch("Weekends do not count", "Neither do holidays, for messages and file changes.")
    time_zone = forms.CharField(
        required=False, widget=UnfoldAdminTextInputWidget, help_text="As in Europe/Berlin."
    )
    holidays = LinesField(help_text="Dates, one on each line: 2026-12-25")
    scratchpad_days = _days("Workflows, days", "0 to 365; 0 keeps them for ever.")
    session_days = _days("Sessions, days", "0 to 3650; 0 keeps them for ever.")
    access_days = _days("File accesses, days", "0 to 3650; 0 keeps them for ever.")
    auto_prune = _switch("Prune snapshots", "Those that have expired and on which nothing rests.")
    tell_stale = _switch("Tell of stale knowledge", "Agents hear of what was not looked at for long.")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.initial.update(config_values(config_of(self.instance.pk)))
        else:
            for name in config_names():
                del self.fields[name]

    def config_values(self) -> dict[str, Any]:
        """The settings that the person changed; one that was emptied goes back to its default."""
        changed = [name for name in config_names() if name in self.changed_data]
        return {name: None if (said := self.cleaned_data[name]) == "" else said for name in changed}


def config_names() -> list[str]:
    return list(config_values(Config()))


def config_fieldsets(project: Project | None) -> list[Any]:
    if project is None:
        return []
    kept = [("message_hours", "change_days"), ("scratchpad_days", "session_days", "access_days")]
    days = ["ignore_weekend", ("time_zone", "holidays")]
    return [
        (FIELDSET, {"fields": kept}),
        ("Days that do not count", {"fields": days}),
        ("Snapshots and stale knowledge", {"fields": [("auto_prune", "tell_stale")]}),
    ]
