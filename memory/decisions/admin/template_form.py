"""The form of a template. Turns the changed fields into arguments of `set_template`."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import LinesField, NamesField, ObjectField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH

COLON = ": "


class PatternsField(LinesField):
    """One `field: regular expression` per line, without the escapes that JSON would need."""

    def line_of(self, entry: Any) -> str:
        return COLON.join(entry)

    def entry_of(self, line: str) -> Any:
        field, _, pattern = line.partition(":")
        return field.strip(), pattern.strip()


class TemplateForm(ServiceForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        widget=UnfoldAdminTextInputWidget,
        help_text="A template with the name of a built-in one overrides it in this project.",
    )
    defaults = ObjectField(
        help_text="A JSON object with the initial fields of a decision, except key and value: "
        '{"layer": "business", "tags": ["breaking"]}'
    )
    require = NamesField(
        help_text="Required fields, separated by commas. Names that are not fields of a decision, such as "
        "cve_id, are looked up in its metadata."
    )
    patterns = PatternsField(
        help_text="A field and a regular expression (RE2) that must match somewhere in it, one per line: "
        r"cve_id: ^CVE-\d{4}-\d{4,}$ (text stands for value and rationale together)"
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if row.pk:
            del self.fields["name"]
            patterns = sorted(row.patterns.items())  # PostgreSQL does not keep the order of keys.
            self.initial.update(defaults=row.defaults, require=row.require, patterns=patterns)

    def clean_patterns(self) -> list[str]:
        lines: list[str] = self.cleaned_data["patterns"]
        if wrong := next((line for line in lines if not all(self._pattern_field().entry_of(line))), None):
            raise ValidationError(f"Write a field, a colon and a regular expression instead of {wrong!r}.")
        return lines

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `set_template`: only the changed fields."""
        arguments: dict[str, Any] = {name: self.cleaned_data[name] for name in self.changed_data}
        if "patterns" in arguments:
            known = self.initial.get("patterns", [])
            arguments["patterns"] = dict(self._pattern_field().entries(arguments["patterns"], known))
        return arguments

    def _pattern_field(self) -> PatternsField:
        field = self.fields["patterns"]
        assert isinstance(field, PatternsField)
        return field
