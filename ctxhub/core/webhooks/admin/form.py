"""The form of a webhook. The address is a secret: it is never filled in, and an empty one stays as it is."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from ctxhub.core.admin.fields import NamesField
from ctxhub.core.admin.shown_once import ShownOnceForm
from ctxhub.core.kit.priority import Priority
from ctxhub.core.webhooks.models import WebhookKind

KINDS = (
    ("json", "A program: signed JSON"),
    ("slack", "Slack: an incoming webhook"),
    ("teams", "Microsoft Teams: a workflow that posts when a webhook request is received"),
    ("discord", "Discord: a webhook of a channel"),
)
CONDITIONS = ("nouns", "verbs", "priority")


class WebhookForm(ShownOnceForm):
    kind = forms.ChoiceField(label="What is there", choices=KINDS, widget=UnfoldAdminSelectWidget)
    url = forms.CharField(
        label="Address",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="https://… It is stored encrypted and shown masked: whoever has it can write there.",
    )
    nouns = NamesField(
        label="Only of these kinds",
        help_text="decision, message, lease. Empty: all, but what the hub does itself.",
    )
    verbs = NamesField(
        label="Only these actions", help_text="set, sent, overdue, escalated, deleted. Empty: all."
    )
    priority = forms.MultipleChoiceField(
        label="Only of these priorities",
        required=False,
        choices=[(label, label) for label in reversed(Priority.labels)],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Messages and constraints have one. None chosen: any, and everything without one.",
    )
    active = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Switched on again, it goes on where it stopped.",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if not row.pk:
            del self.fields["active"]
            return
        del self.fields["once"]
        self.fields["url"].required = False
        self.fields["url"].help_text = f"Now {row.shown}. Empty: it stays. It is stored encrypted."
        self.initial.update(
            kind=str(WebhookKind(row.kind).label),
            active=row.is_active,
            **{name: getattr(row, name) for name in CONDITIONS},
        )

    def arguments(self) -> dict[str, Any]:
        """The arguments of `add_webhook`."""
        return {name: self.cleaned_data[name] for name in ("url", "kind", *CONDITIONS)}

    def changes(self) -> dict[str, Any]:
        """The arguments of `change_webhook`."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        return {name: value for name, value in changed.items() if name != "url" or value}
