"""What else was thought of, as lines that people read and write: `Sessions | one more thing to share`."""

from typing import Any

from ctxhub.core.admin.fields import LinesField, one_line

BAR = " | "


def line_of(alternative: Any) -> str:
    """A text, or an option with why it was not taken, on one line."""
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
