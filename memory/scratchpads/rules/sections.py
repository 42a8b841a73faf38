"""Finds the section of a pad that an update names, and the lines of it that the update changes."""

import unicodedata
from collections.abc import Sequence

from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.text.headings import Section, headings, sections
from ctxhub.core.text.plurals import counted

SECTIONS_NAMED = 8


def find_section(text: str, name: str) -> Section:
    """The section with this heading; marks in front of the name ("## Plan") tell those of one name apart.

    Raises InvalidInput, which names the sections that exist, if there is none or more than one.
    """
    known = list(sections(text))
    found = [section for section in known if _normalised(section.heading.text) == _normalised(name)]
    of_level = [section for section in found if section.heading.level == _marks(name)]
    if len(of_level or found) == 1:
        return (of_level or found)[0]
    raise _ambiguous(name, found) if found else _unknown(name, known)


def lines_after_heading(lines: Sequence[str], section: Section, added: Sequence[str]) -> slice:
    """The lines that `added` replaces: the body of the section, without blank lines around it.

    The heading belongs to them if the new text begins with one of its own.
    """
    body = body_of(lines, section)
    if _has_own_heading("".join(added), section):
        return slice(section.heading.line - 1, body.stop)
    start = body.start
    while added and added[0].strip() and start < body.stop and not lines[start].strip():
        start += 1
    return slice(start, body.stop)


def body_of(lines: Sequence[str], section: Section) -> slice:
    """The lines of a section below its heading, without the blank ones at its end."""
    start = section.heading.line - 1 + section.heading.height
    stop = max(section.last, start)
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return slice(start, stop)


def _has_own_heading(content: str, section: Section) -> bool:
    """Whether a text begins with a heading that takes the place of the section's; a deeper one does not."""
    own = next(headings(content), None)
    if own is None or any(line.strip() for line in content.split("\n")[: own.line - 1]):
        return False
    of_section = section.heading
    return own.level <= of_section.level or _normalised(own.text) == _normalised(of_section.text)


def _unknown(name: str, known: Sequence[Section]) -> InvalidInput:
    names = list(dict.fromkeys(section.heading.text for section in known if section.heading.text))
    message = f"section: the pad has no heading {shown(name)}."
    if not names:
        error = InvalidInput(f"{message} It has none at all.", hint="Append to it, or insert before a line.")
    else:
        error = InvalidInput(
            message,
            hint=f"{operation('scratchpad get')} with outline=true lists the headings.",
            allowed=names[:SECTIONS_NAMED],
            did_you_mean=nearest(name, names),
        )
    return for_readers(error, otherwise=message)


def _ambiguous(name: str, found: Sequence[Section]) -> InvalidInput:
    places = [f"{section.heading.line}-{section.last}" for section in found[:SECTIONS_NAMED]]
    message = f"section: the pad has {counted(len(found), 'sections')} {shown(name)}"
    error = InvalidInput(
        f"{message}: lines {', '.join(places)}.",
        hint="replace_lines with line and end writes over one of them, insert with line adds to it.",
        allowed=_with_marks(found),
    )
    return for_readers(error, otherwise=f"{message}.")


def _with_marks(found: Sequence[Section]) -> list[str]:
    """The names of sections with the marks of their levels, if these tell them apart."""
    names = [f"{'#' * section.heading.level} {section.heading.text}" for section in found[:SECTIONS_NAMED]]
    return [name for name in names if names.count(name) == 1]


def _normalised(heading: str) -> str:
    return unicodedata.normalize("NFC", heading.strip().lstrip("#").strip()).casefold()


def _marks(name: str) -> int:
    """The number of marks in front of a name; 0 if it is a name alone."""
    return len(name.strip()) - len(name.strip().lstrip("#"))
