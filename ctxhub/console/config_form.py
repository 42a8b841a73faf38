"""The form fields of a project's settings. The service validates them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from ctxhub.console.fields import LinesField
from ctxhub.console.service_form import ServiceForm
from ctxhub.core.accounts.config import config_of, config_values, read_config
from ctxhub.core.accounts.models import Config
from ctxhub.core.models import Project

GROUPS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "How long data is kept": [
        ("message_hours", "change_days"),
        ("scratchpad_days", "session_days", "access_days"),
    ],
    "Days that do not count": [("ignore_weekend",), ("time_zone", "holidays")],
    "Snapshots": [("auto_prune",)],
    "What agents are given": [("record_given", "tell_stale")],
    "What waits for too long": [("escalate_minutes",)],
    "Paths of files": [("ignore_case_in_paths",)],
    "Programs on people's machines": [("enrolment",)],
}


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
    tell_stale = _switch("Tell of changes", "Readers and authors of a decision hear when it changes.")
    escalate_minutes = _days(
        "Escalate after, minutes",
        "0 to 10080; 0 never. Requests that nobody claims, and messages to be acknowledged that nobody "
        "reads, become an event, of which a webhook can tell people.",
    )
    enrolment = _switch(
        "Members may connect them by a code",
        "A program shows a code; who types it gives the program a token of their own.",
    )
    ignore_case_in_paths = _switch(
        "Ignore case", "SRC/A.py is src/a.py: for a repository that is worked on under macOS or Windows."
    )

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


FIELDS: Mapping[str, forms.Field] = ConfigForm.base_fields


def config_names() -> list[str]:
    return list(config_values(Config()))


def config_help_texts() -> dict[str, str]:
    return {name: str(FIELDS[name].help_text) for name in config_names()}


def config_fieldsets(project: Project | None, *, may_change: bool = True) -> list[Any]:
    """The settings in groups: form fields, or the values for a person who may not change them."""
    if project is None:
        return []
    return [
        (
            title,
            {"fields": [tuple(name if may_change else shown_setting(name) for name in row) for row in rows]},
        )
        for title, rows in GROUPS.items()
    ]


def shown_setting(name: str) -> Callable[[Project], SafeString]:
    """A read-only field of the admin with the value of a setting."""

    @display(description=str(FIELDS[name].label or name.replace("_", " ")))
    def shown(project: Project) -> SafeString:
        value = config_values(read_config(project.config))[name]
        is_default = value == config_values(Config())[name]
        return format_html(
            '{} <span class="ctx-quiet">{}</span>', _as_text(value), "default" if is_default else ""
        )

    shown.__name__ = name
    return cast("Callable[[Project], SafeString]", shown)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) or "none" if isinstance(value, list) else str(value)
