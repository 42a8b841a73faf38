"""Admin forms for a new message and for a reply in a thread."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from ctxhub.core.accounts.selectors.agents import known_agents
from ctxhub.core.admin.fields import NamesField, ProseField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.priority import Priority
from messaging.models import MessageType


def _choice(labels: list[str], initial: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=[(label, label) for label in labels], initial=initial, widget=UnfoldAdminSelectWidget
    )


class RecipientsField(NamesField):
    """Names of agents as typed: only the service knows whether "Doe, Jane" is one of them."""

    def read(self, text: str) -> list[str]:
        return [text.strip()] if text.strip() else []


class MessageForm(ServiceForm):
    text = ProseField(rows=6)
    to = RecipientsField(
        help_text="Agent names, separated by commas. Leave empty to write to everyone in the project."
    )
    type = _choice(list(map(str, MessageType.labels)), str(MessageType.INFO.label))
    priority = _choice(list(map(str, reversed(Priority.labels))), str(Priority.MEDIUM.label))
    ack = forms.BooleanField(
        required=False,
        label="Ask for an acknowledgement",
        widget=UnfoldBooleanSwitchWidget,
        help_text="From each recipient.",
    )
    ack_within = forms.CharField(
        required=False,
        label="Acknowledge within",
        widget=UnfoldAdminTextInputWidget,
        help_text="30m, 2h or 3d. Late acknowledgements are shown on the overview.",
    )

    def agents(self) -> list[str]:
        """Names of known agents, last seen first."""
        return known_agents(self.project) if self.project else []

    def arguments(self) -> dict[str, Any]:
        """The arguments of `send_message`. An empty text is passed on: the service refuses it."""
        return self.filled_in("text")


class ReplyForm(forms.Form):
    text = ProseField(rows=4, label="Reply")
    to = RecipientsField(
        help_text="Agent names, separated by commas. Leave empty to answer the sender, or your recipients."
    )

    def arguments(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name == "text" or value}
