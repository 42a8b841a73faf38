"""Form fields for stored values: unchanged prose, lists typed as text, JSON objects."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from ctxhub.core.kit.text_lists import UnreadableList, read_names


class TextArea(UnfoldAdminTextareaWidget):
    # Browsers drop a newline after <textarea>. This template adds one, so that the text keeps its own.
    template_name = "django/forms/widgets/textarea.html"

    def __init__(self, rows: int) -> None:
        super().__init__(attrs={"rows": rows})


class MomentInput(UnfoldAdminTextInputWidget):
    """A date and a time of day, with the browser's own picker."""

    input_type = "datetime-local"


class ProseField(forms.CharField):
    """A text kept as typed. Browsers send every line end as CRLF, which does not count as a change."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        super().__init__(strip=False, required=False, widget=TextArea(rows), **options)

    def to_python(self, value: Any) -> str:
        return plain_lines(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return plain_lines(initial or "") != plain_lines(data or "")


class ListField(forms.Field):
    """A list typed as text. It has changed only if the text parses to a different list."""

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else self.written(value or [])

    def to_python(self, value: Any) -> list[str]:
        return self.read(value or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        written = self.prepare_value(initial)
        return written != data and self.read(written) != self.read(data or "")

    def written(self, entries: Sequence[Any]) -> str:
        raise NotImplementedError

    def read(self, text: str) -> list[str]:
        raise NotImplementedError


class NamesField(ListField):
    """Names separated by commas, or a list as models write it. A name that holds a comma is quoted."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=UnfoldAdminTextInputWidget, **options)

    def written(self, entries: Sequence[Any]) -> str:
        return ", ".join(entry if is_plain(entry) else quoted(entry) for entry in entries)

    def read(self, text: str) -> list[str]:
        """The names; a text that is no list is one name, which the service refuses."""
        try:
            return [str(name) for name in read_names(text) if name != ""]
        except UnreadableList:
            return [text.strip()]


class LinesField(ListField):
    """A list with one entry per line."""

    def __init__(self, *, rows: int = 3, **options: Any) -> None:
        super().__init__(required=False, widget=TextArea(rows), **options)

    def written(self, entries: Sequence[Any]) -> str:
        return "\n".join(self.line_of(entry) for entry in entries)

    def read(self, text: str) -> list[str]:
        return [line.strip() for line in plain_lines(text).split("\n") if line.strip()]

    def line_of(self, entry: Any) -> str:
        return one_line(entry)

    def entry_of(self, line: str) -> Any:
        return line

    def entries(self, lines: Sequence[str], known: Sequence[Any]) -> list[Any]:
        """Parse the lines. An unchanged line yields the known entry with all its data."""
        by_line = {self.line_of(entry): entry for entry in known}
        return [by_line[line] if line in by_line else self.entry_of(line) for line in lines]


class ObjectField(forms.Field):
    """A JSON object typed as JSON."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=TextArea(3), **options)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, indent=1) if value else ""

    def to_python(self, value: Any) -> dict[str, Any]:
        try:
            parsed = json.loads(value or "{}")
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise ValidationError('Write a JSON object: {"ticket": "OPS-7"}')
        return parsed

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or {}))
        except ValidationError:
            return True


def is_plain(name: str) -> bool:
    """Whether a name that is read as a list of names is itself."""
    try:
        return read_names(name) == [name]
    except UnreadableList:
        return False


def quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def one_line(text: str) -> str:
    return " ".join(text.split())


def object_change(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The change from `old` to `new`. Services merge objects by key, so a removed key is set to None."""
    return {**dict.fromkeys(old), **new}
