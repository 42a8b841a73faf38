"""The text form of a briefing: a heading for each section, and a line for each row."""

from collections.abc import Callable, Mapping, Sequence

from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.text.token_count import count_tokens
from sessions.briefings.rules.candidates import Candidate, Packed
from sessions.briefings.rules.packing import Form
from sessions.briefings.rules.writers import day_of


def as_text(
    note: str, sections: Mapping[str, Sequence[Candidate]], omitted: int, cursor: str, stale: str = ""
) -> str:
    """The note, the sections, and the cursor on the last line. No text of a row leaves its line.

    `stale`: what is to be said of the marks of stale rows.
    """
    parts = [note]
    parts += [section_text(name, rows) for name, rows in sections.items()]
    if stale:
        parts.append(f"({stale})")
    if omitted:
        parts.append(f"({omitted} more: ask with a larger budget, or search)")
    return "\n\n".join([*parts, f"(ctxhub cursor {cursor})"])


def section_text(name: str, rows: Sequence[Candidate]) -> str:
    return f"## {name}\n" + "\n".join(_line(one, one.text) for one in rows)


def text_form(measure: Callable[[Packed], int]) -> Form:
    return Form(
        measure,
        lambda one: count_tokens(_line(one, one.text)) + 1,
        lambda one: count_tokens(_line(one, "")) + 1,
        head=6,
    )


def _line(one: Candidate, text: str) -> str:
    line = f"- {one.ref}: {text} ({one.by}, {day_of(one.at)})"
    return in_one_line("".join(character if character.isprintable() else " " for character in line))
