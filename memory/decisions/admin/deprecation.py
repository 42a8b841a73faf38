"""The form to deprecate decisions: asks for a reason and a successor."""

from collections.abc import Sequence
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import ProseField
from memory.decisions.models.decision import Decision, DecisionStatus

KEYS_OFFERED = 200


class DeprecateForm(forms.Form):
    reason = ProseField(rows=3, help_text="What has changed since it was decided.")
    superseded_by = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "successors", "autocomplete": "off"}),
        help_text="The key of the decision that replaces it, if there is one.",
    )

    def clean(self) -> dict[str, Any]:
        """Return only the fields that were filled in; the others stay unchanged."""
        cleaned = super().clean() or {}
        if not any(str(value).strip() for value in cleaned.values()) and not self.errors:
            self.add_error("reason", "Enter a reason, or the decision that replaces it.")
        return {name: value for name, value in cleaned.items() if value}


def possible_successors(decisions: Sequence[Decision]) -> list[str]:
    """Return the keys of other active decisions of the same project, newest first."""
    rows = Decision.objects.in_project(decisions[0].project_id).filter(status=DecisionStatus.ACTIVE)
    others = rows.exclude(pk__in=[decision.pk for decision in decisions]).order_by("-updated_at")
    return list(others.values_list("key", flat=True)[:KEYS_OFFERED])
