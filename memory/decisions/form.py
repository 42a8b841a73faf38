"""The form of a decision. Turns the changed fields into arguments of `set_decision`."""

import json
import re
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console.fields import LinesField, NamesField, ObjectField, ProseField, object_change
from ctxhub.console.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH
from memory.decisions.inputs import VERSION_LENGTH
from memory.decisions.models import DecisionStatus
from memory.decisions.versions_page import AlternativesField, FieldChange, Version, changes_between

TEXT, NUMBER = "text", "number"
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


class DecisionForm(ServiceForm):
    """Adds or changes a decision. `seen` is the version the person opened; `current` is the latest one.

    If they differ, somebody else has changed the decision meanwhile: the form then shows that change, keeps
    the person's input, and saves nothing until it is submitted again.
    """

    current: ClassVar[Version | None] = None
    seen: ClassVar[Version | None] = None
    last_revision: ClassVar[int] = 0

    key = forms.CharField(
        max_length=NAME_LENGTH, widget=UnfoldAdminTextInputWidget, help_text="For example api/auth/method."
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
        help_text="To end a decision, use Deprecate on its page. It asks for the reason.",
    )
    layer = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    tags = NamesField(help_text="Separated by commas. A new name creates a new tag.")
    scopes = NamesField(help_text="Separated by commas. A new name creates a new scope.")
    paths = LinesField(
        help_text="Globs of the files it applies to, one per line: src/*.{ts,tsx}. !src/gen/** exempts."
    )
    rationale = ProseField(rows=5, help_text="Why this was decided.")
    alternatives = AlternativesField(
        help_text="Other options, one per line. Put the reason against an option after a bar: "
        "Sessions | one more thing to share"
    )
    pros = LinesField(help_text="One per line.")
    cons = LinesField(help_text="One per line.")
    metadata = ObjectField(help_text='A JSON object: {"ticket": "OPS-7"}')
    version = forms.CharField(
        max_length=VERSION_LENGTH,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="Leave it unchanged to raise it automatically when the value changes.",
    )
    seen_revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.offer_layers()
        self.their_changes: list[FieldChange] = []
        self.is_outdated = self.is_bound and self.seen is not self.current
        if self.current and self.seen:
            self.initial.update(self._initial(self.current))
            del self.fields["key"]
            if self.is_outdated:
                self._merge(self.seen, self.current)
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

    # -- Concurrent changes ------------------------------------------------------------------------

    def _merge(self, seen: Version, current: Version) -> None:
        """Keep the fields that the person changed; take the others from the current version."""
        self.their_changes = changes_between(seen.state, current.state)
        before, now = self._initial(seen), self._initial(current)
        merged = dict(self.data.items())
        for name, field in self.fields.items():
            has_changed = field.has_changed(
                before[name], field.widget.value_from_datadict(self.data, {}, name)
            )
            if name == "seen_revision" or not has_changed:
                merged[name] = field.prepare_value(now[name])
        self.data = merged

    # -- Validation --------------------------------------------------------------------------------

    def clean_status(self) -> str:
        status: str = self.cleaned_data["status"]
        current = self.current.state["status"] if self.current else ""
        if status == DecisionStatus.DEPRECATED.label != current:
            raise ValidationError("To end a decision, use Deprecate on its page. It asks for the reason.")
        return status

    def clean_kind(self) -> str:
        kind: str = self.cleaned_data["kind"]
        if kind == NUMBER and "value" in self.cleaned_data and _number(self.cleaned_data["value"]) is None:
            raise ValidationError("The value is not a number.")
        return kind

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `set_decision`: the value, and the other fields that were changed."""
        cleaned, changed = self.cleaned_data, set(self.changed_data)
        plain = changed & {"key", "status", "tags", "scopes", "paths", "rationale"}
        value = self._value(changed)
        arguments: dict[str, Any] = {"value": value, **{name: cleaned[name] for name in plain}}
        if isinstance(value, str):
            arguments["numeric"] = False  # The person has said that it is a text.
        if "layer" in changed:
            arguments["layer"] = cleaned["layer"] or None
        if "version" in changed and cleaned["version"]:
            arguments["version"] = cleaned["version"]
        if "alternatives" in changed:
            arguments["alternatives"] = self._entries("alternatives")
        if changed & {"pros", "cons"}:
            arguments["tradeoffs"] = {side: self._entries(side) for side in ("pros", "cons") if cleaned[side]}
        if "metadata" in changed:
            arguments["metadata"] = object_change(self.initial.get("metadata", {}), cleaned["metadata"])
        return arguments

    def _value(self, changed: set[str]) -> str | int | float:
        if self.current and not changed & {"value", "kind"}:
            value: str | int | float = self.current.state["value"]
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
