"""Converts alternatives to and from the lines that people edit: `Sessions | one more thing to share`."""

from typing import Any

from ctxhub.core.admin.fields import LinesField, one_line

BAR = " | "


def line_of(alternative: Any) -> str:
    """Return one line for an alternative: a text, or an option and the reason against it."""
    if not isinstance(alternative, dict):
        return one_line(str(alternative))
    why_not = alternative.get("why_not")
    option = one_line(str(alternative.get("option", "")))
    return f"{option}{BAR}{one_line(str(why_not))}" if why_not else option


class AlternativesField(LinesField):
    def line_of(self, entry: Any) -> str:
        return line_of(entry)

    def entry_of(self, line: str) -> Any:
        option, bar, why_not = line.partition(BAR)
        return {"option": option.strip(), "why_not": why_not.strip()} if bar else line
