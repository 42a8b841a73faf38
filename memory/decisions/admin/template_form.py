"""The form of a template: what a person typed, as arguments of `set_template`, save what they left alone."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.core.admin.fields import LinesField, ObjectField, WordsField
from ctxhub.core.admin.service_form import ServiceForm
from ctxhub.core.kit.inputs import NAME_LENGTH

COLON = ": "


class PatternsField(LinesField):
    """A field, a colon and its regular expression on each line: no escapes as JSON would want them."""

    def line_of(self, entry: Any) -> str:
        return COLON.join(entry)

    def entry_of(self, line: str) -> Any:
        field, _, pattern = line.partition(":")
        return field.strip(), pattern.strip()


class TemplateForm(ServiceForm):
    name = forms.CharField(
        max_length=NAME_LENGTH,
        widget=UnfoldAdminTextInputWidget,
        help_text="One of a built-in template's name takes its place in this project.",
    )
    defaults = ObjectField(
        help_text="A JSON object of what a decision begins with, beside key and value: "
        '{"layer": "business", "tags": ["breaking"]}'
    )
    require = WordsField(
        help_text="Between commas: what has to be said. A name that is no argument of a decision, such as "
        "cve_id, is looked for in its metadata."
    )
    patterns = PatternsField(
        help_text="A field and the regular expression (RE2) that has to be found in it, one on each line: "
        r"cve_id: ^CVE-\d{4}-\d{4,}$ - text is value and rationale together."
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if row.pk:
            del self.fields["name"]
            patterns = sorted(row.patterns.items())  # PostgreSQL keeps no order of its own.
            self.initial.update(defaults=row.defaults, require=row.require, patterns=patterns)

    def clean_patterns(self) -> list[str]:
        lines: list[str] = self.cleaned_data["patterns"]
        if wrong := next((line for line in lines if not all(self._pattern_field().entry_of(line))), None):
            raise ValidationError(f"A field, a colon and a regular expression, not {wrong!r}.")
        return lines

    def arguments(self) -> dict[str, Any]:
        """What `set_template` is to be told: only what the person changed."""
        told: dict[str, Any] = {name: self.cleaned_data[name] for name in self.changed_data}
        if "patterns" in told:
            known = self.initial.get("patterns", [])
            told["patterns"] = dict(self._pattern_field().entries(told["patterns"], known))
        return told

    def _pattern_field(self) -> PatternsField:
        field = self.fields["patterns"]
        assert isinstance(field, PatternsField)
        return field
