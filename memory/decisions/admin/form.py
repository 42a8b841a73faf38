"""The form of a decision: what a person typed, as arguments of `set_decision`, save what they left alone."""

import json
import re
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import LinesField, ObjectField, ProseField, WordsField, object_change
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH
from memory.decisions.admin.alternatives import AlternativesField
from memory.decisions.admin.history import FieldChange, Version, changes_between
from memory.decisions.inputs.decisions import VERSION_LENGTH
from memory.decisions.models.decision import DecisionStatus

TEXT, NUMBER = "text", "number"
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


class DecisionForm(ServiceForm):
    """`seen` is what the person sees, or saw when they opened the page; `standing` is what stands now.

    Where the two differ, somebody else has changed the decision meanwhile: the form then shows what they
    changed, keeps what the person typed, and saves nothing until they have seen it.
    """

    standing: ClassVar[Version | None] = None
    seen: ClassVar[Version | None] = None
    last_revision: ClassVar[int] = 0

    key = forms.CharField(
        max_length=NAME_LENGTH, widget=UnfoldAdminTextInputWidget, help_text="As in api/auth/method."
    )
    value = ProseField(rows=4)
    kind = forms.ChoiceField(
        choices=((TEXT, "Text"), (NUMBER, "Number")),
        label="The value is a",
        widget=UnfoldAdminRadioSelectWidget,
    )
    status = forms.ChoiceField(
        choices=[(label, label) for label in DecisionStatus.labels],
        widget=UnfoldAdminSelectWidget,
        help_text="To end a decision, use Deprecate on its page: it asks why.",
    )
    layer = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    tags = WordsField(help_text="Between commas. A new name makes a new tag.")
    scopes = WordsField(help_text="Between commas. A new name makes a new scope.")
    paths = LinesField(help_text="Globs of the files it bears on, one on each line: src/api/**")
    rationale = ProseField(rows=5, help_text="Why it was decided so.")
    alternatives = AlternativesField(
        help_text="What else was thought of, one on each line; why it was not taken stands behind a bar: "
        "Sessions | one more thing to share"
    )
    pros = LinesField(help_text="One on each line.")
    cons = LinesField(help_text="One on each line.")
    metadata = ObjectField(help_text='A JSON object: {"ticket": "OPS-7"}')
    version = forms.CharField(
        max_length=VERSION_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="Left as it is, it is counted on when the value changes.",
    )
    seen_revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.offer_layers()
        self.theirs: list[FieldChange] = []
        self.is_late = self.is_bound and self.seen is not self.standing
        if self.standing and self.seen:
            self.initial.update(self._initial(self.standing))
            del self.fields["key"]
            if self.is_late:
                self._meet(self.seen, self.standing)
        else:
            self.initial = {"kind": TEXT, "status": "active", "seen_revision": 0, **self.initial}
            del self.fields["version"]

    def _initial(self, version: Version) -> dict[str, Any]:
        state = version.state
        tradeoffs = state.get("tradeoffs", {})
        return {
            **{name: state.get(name, []) for name in ("tags", "scopes", "paths", "alternatives")},
            **{name: state.get(name, "") for name in ("layer", "rationale")},
            **{name: state[name] for name in ("status", "version")},
            **{name: tradeoffs.get(name, []) for name in ("pros", "cons")},
            "value": str(state["value"]) if isinstance(state["value"], str) else json.dumps(state["value"]),
            "kind": TEXT if isinstance(state["value"], str) else NUMBER,
            "metadata": state.get("metadata", {}),
            "seen_revision": self.last_revision,
        }

    # -- Two people at once ------------------------------------------------------------------------

    def _meet(self, seen: Version, standing: Version) -> None:
        """Keep what the person typed, show what stands for the rest, and go on from there."""
        self.theirs = changes_between(seen.state, standing.state)
        before, now = self._initial(seen), self._initial(standing)
        typed = dict(self.data.items())
        for name, field in self.fields.items():
            mine = field.has_changed(before[name], field.widget.value_from_datadict(self.data, {}, name))
            if name == "seen_revision" or not mine:
                typed[name] = field.prepare_value(now[name])
        self.data = typed

    # -- Reading it --------------------------------------------------------------------------------

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.is_late:
            raise ValidationError("Somebody else has changed this decision meanwhile. Nothing was saved.")
        return cleaned

    def clean_status(self) -> str:
        said: str = self.cleaned_data["status"]
        stood = self.standing.state["status"] if self.standing else ""
        if said == DecisionStatus.DEPRECATED.label != stood:
            raise ValidationError("A decision is ended by Deprecate, on its page: it asks why.")
        return said

    def clean_kind(self) -> str:
        kind: str = self.cleaned_data["kind"]
        if kind == NUMBER and "value" in self.cleaned_data and _number(self.cleaned_data["value"]) is None:
            raise ValidationError("The value is not a number.")
        return kind

    def arguments(self) -> dict[str, Any]:
        """What `set_decision` is to be told: the value always, of the rest only what the person changed."""
        said, changed = self.cleaned_data, set(self.changed_data)
        told: dict[str, Any] = {"value": self._value(changed)}
        told |= {
            name: said[name] for name in changed & {"key", "status", "tags", "scopes", "paths", "rationale"}
        }
        if "layer" in changed:
            told["layer"] = said["layer"] or None
        if "version" in changed and said["version"]:
            told["version"] = said["version"]
        if "alternatives" in changed:
            told["alternatives"] = self._entries("alternatives")
        if changed & {"pros", "cons"}:
            told["tradeoffs"] = {side: self._entries(side) for side in ("pros", "cons") if said[side]}
        if "metadata" in changed:
            told["metadata"] = object_change(self.initial.get("metadata", {}), said["metadata"])
        return told

    def _value(self, changed: set[str]) -> str | int | float:
        if self.standing and not changed & {"value", "kind"}:
            value: str | int | float = self.standing.state["value"]
            return value
        text: str = self.cleaned_data["value"]
        number = _number(text) if self.cleaned_data["kind"] == NUMBER else None
        return text if number is None else number

    def _entries(self, name: str) -> list[Any]:
        field = self.fields[name]
        assert isinstance(field, LinesField)
        return field.entries(self.cleaned_data[name], self.initial.get(name, []))


def _number(text: str) -> int | float | None:
    text = text.strip()
    if "_" in text:
        return None
    try:
        return int(text) if _INTEGER.fullmatch(text) else float(text)
    except ValueError:
        return None
