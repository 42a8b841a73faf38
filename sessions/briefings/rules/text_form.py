"""The text form of a briefing: a heading for each section, and a line for each row."""

from collections.abc import Callable, Mapping, Sequence

from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.text.token_count import count_tokens
from sessions.briefings.rules.packing import Candidate, Form, Packed

DAY = 10
"""The characters of a date."""


def as_text(note: str, sections: Mapping[str, Sequence[Candidate]], omitted: int, cursor: str) -> str:
    """The note, the sections, and the cursor on the last line. No text of a row leaves its line."""
    parts = [note]
    parts += [section_text(name, rows) for name, rows in sections.items()]
    if omitted:
        parts.append(f"({omitted} more: ask with a larger budget, or search)")
    return "\n\n".join([*parts, f"(ctxhub cursor {cursor})"])


def section_text(name: str, rows: Sequence[Candidate]) -> str:
    return f"## {name}\n" + "\n".join(map(line_of, rows))


def text_form(measure: Callable[[Packed], int]) -> Form:
    return Form(
        measure,
        lambda one: count_tokens(line_of(one)) + 1,
        lambda one: count_tokens(_line(one, "")) + 1,
        head=6,
    )


def line_of(one: Candidate) -> str:
    return _line(one, one.text)


def _line(one: Candidate, text: str) -> str:
    line = f"- {one.ref}: {text} ({one.by}, {one.at[:DAY]})"
    return in_one_line("".join(character if character.isprintable() else " " for character in line))
