"""The forms of access tokens: of a project, of a member's own, and for another in the place of one."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from ctxhub.console.shown_once import ShownOnceForm
from ctxhub.core.accounts.own_tokens import clean_grace, offered_name
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


SCOPES = ((READ, "read"), (WRITE, "write"), (ADMIN, "admin: delete, prune, configure, import"))


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
        choices=SCOPES,
        initial=[READ, WRITE],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    lasts = forms.ChoiceField(
        choices=LASTS, required=False, label="Valid for", widget=UnfoldAdminSelectWidget
    )

    def arguments(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        return {
            **{name: cleaned[name] for name in ("name", "agent", "scopes")},
            "expires_at": _end(cleaned["lasts"]),
        }


CLIENTS = (
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("cursor", "Cursor"),
    ("vscode", "VS Code"),
    ("", "Another client, or several"),
)


class OwnTokenForm(ShownOnceForm):
    """The form of a member for an agent of their own. The admin sets `owner` and the scopes of their role."""

    owner: ClassVar[Any] = None
    allowed: ClassVar[Collection[str]] = ()

    client = forms.ChoiceField(
        choices=CLIENTS,
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="Make one token for each client, so that others see which of them wrote.",
    )
    agent = forms.CharField(
        max_length=WORD_LENGTH,
        required=False,
        label="Name of the agent",
        widget=UnfoldAdminTextInputWidget,
        help_text="The token speaks for this agent alone. If empty, your name and that of the client.",
    )
    scopes = forms.MultipleChoiceField(widget=UnfoldAdminCheckboxSelectMultipleWidget)
    lasts = forms.ChoiceField(choices=LASTS[1:], label="Valid for", widget=UnfoldAdminSelectWidget)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        scopes: Any = self.fields["scopes"]
        scopes.choices = [choice for choice in SCOPES if choice[0] in self.allowed]
        self.initial.setdefault("scopes", [scope for scope in (READ, WRITE) if scope in self.allowed])
        self.initial.setdefault("lasts", "90")

    def arguments(self) -> dict[str, Any]:
        """Names the agent if the person did not."""
        cleaned = self.cleaned_data
        agent = cleaned["agent"] or offered_name(self._project_id(), self.owner, cleaned["client"] or "agent")
        return {"agent": agent, "scopes": cleaned["scopes"], "expires_at": _end(cleaned["lasts"])}

    def _project_id(self) -> int:
        assert self.project
        return self.project.pk


class RotateForm(forms.Form):
    grace = forms.ChoiceField(
        choices=(("24h", "24 hours"), ("0", "Not at all: it ends now"), ("7d", "7 days")),
        label="The old one stays good for",
        widget=UnfoldAdminSelectWidget,
    )
    agent = forms.CharField(
        max_length=WORD_LENGTH,
        required=False,
        label="Only for the agent",
        widget=UnfoldAdminTextInputWidget,
        help_text="If empty, as the old one.",
    )

    def arguments(self) -> dict[str, Any]:
        return {"grace": clean_grace(self.cleaned_data["grace"]), "agent": self.cleaned_data["agent"]}


def _end(days: str) -> datetime | None:
    return clock.now() + timedelta(days=int(days)) if days else None
