"""The form of a new access token."""

from datetime import timedelta
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from ctxhub.core.admin.shown_once import ShownOnceForm
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.kit.inputs import WORD_LENGTH

LASTS = (
    ("", "Until it is revoked"),
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "A year"),
)


class TokenForm(ShownOnceForm):
    name = forms.CharField(
        max_length=WORD_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="A client, a machine or a person. If empty, the name of the agent.",
    )
    agent = forms.CharField(
        max_length=WORD_LENGTH,
        required=False,
        label="Only for the agent",
        widget=UnfoldAdminTextInputWidget,
        help_text="The token works only for this agent. If empty, the client names its agent.",
    )
    scopes = forms.MultipleChoiceField(
        choices=((READ, "read"), (WRITE, "write"), (ADMIN, "admin: delete, prune, configure, import")),
        initial=[READ, WRITE],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    lasts = forms.ChoiceField(
        choices=LASTS, required=False, label="Valid for", widget=UnfoldAdminSelectWidget
    )

    def arguments(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        expires_at = clock.now() + timedelta(days=int(cleaned["lasts"])) if cleaned["lasts"] else None
        return {**{name: cleaned[name] for name in ("name", "agent", "scopes")}, "expires_at": expires_at}
