"""The forms of the pages that ask for a brief or a check. They are sent with GET: each answer has a URL."""

from typing import Any

from django import forms
from django.utils import timezone
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from ctxhub.core.admin.fields import LinesField, MomentInput
from sessions.briefings.selectors.brief import DEFAULT_BUDGET, LEAST_BUDGET, MOST_BUDGET

TEXT, ANSWER = "text", "answer"
AGENTS = "agents"
"""The id of the list of names that the forms suggest."""


def _line(**attributes: Any) -> UnfoldAdminTextInputWidget:
    return UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", **attributes})


class BriefForm(forms.Form):
    agent = forms.CharField(widget=_line(list=AGENTS))
    task = forms.CharField(
        required=False,
        widget=_line(placeholder="Add rate limiting to shop/api/login.py"),
        help_text="What the agent is about to do, with its paths. Blank: what is new.",
    )
    budget_tokens = forms.IntegerField(
        label="Budget in tokens",
        min_value=LEAST_BUDGET,
        max_value=MOST_BUDGET,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    shape = forms.ChoiceField(
        label="In the form of",
        choices=((TEXT, "text (hooks)"), (ANSWER, "JSON (tool)")),
        widget=UnfoldAdminSelectWidget,
    )


class CheckForm(forms.Form):
    paths = LinesField(rows=3, help_text="One path or glob a line: shop/api/login.py, shop/api/**")
    intent = forms.CharField(
        required=False, widget=_line(), help_text="What is to be done there. Adds what matches it best."
    )
    agent = forms.CharField(
        required=False,
        widget=_line(list=AGENTS),
        help_text="Who asks: its own leases and changes stop nobody. Blank: somebody new.",
    )


class GivenForm(forms.Form):
    agent = forms.CharField(widget=_line(list=AGENTS))
    at = forms.DateTimeField(widget=MomentInput(attrs={"step": 1}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["at"].label = f"Until ({timezone.get_current_timezone_name()})"


BRIEF_DEFAULTS = {"budget_tokens": str(DEFAULT_BUDGET), "shape": TEXT}
