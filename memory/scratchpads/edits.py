"""Applies the edit modes to a pad's text, or to a section of it and lines there."""

import unicodedata
from collections.abc import Sequence
from enum import StrEnum

from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import clean_one_of
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.text.headings import Section, headings, sections
from ctxhub.core.text.lines import line_end_of, split_lines, with_line_ends_of
from ctxhub.core.text.plurals import counted
from memory.scratchpads.models import PadChange

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


class Mode(StrEnum):
    """How an update changes a pad."""

    REPLACE = "replace"
    INSERT = "insert"
    REPLACE_LINES = "replace_lines"
    SECTION = "section"
    APPEND_SECTION = "append_section"


# What a pad's history says of each mode.
CHANGES = {
    Mode.REPLACE: PadChange.REPLACED,
    Mode.INSERT: PadChange.INSERTED,
    Mode.REPLACE_LINES: PadChange.LINES_REPLACED,
    Mode.SECTION: PadChange.LINES_REPLACED,
    Mode.APPEND_SECTION: PadChange.SECTION_EXTENDED,
}
# The position arguments of each mode.
TAKES: dict[Mode, tuple[str, ...]] = {
    Mode.REPLACE: (),
    Mode.INSERT: ("line",),
    Mode.REPLACE_LINES: ("line", "end"),
    Mode.SECTION: ("section",),
    Mode.APPEND_SECTION: ("section",),
}
TOGETHER = (
    "insert takes line, replace_lines takes line and end, section and append_section take section; replace, "
    "the whole pad, takes none of them."
)


def mode_of(mode: str | None, *, line: int | None, end: int | None, section: str | None) -> Mode:
    """The given mode, or the default for the arguments: `section` gives section, `end` replace_lines, `line`
    alone insert, none of them replace.

    Raises InvalidInput for arguments that the mode does not take.
    """
    positions = {"line": line, "end": end, "section": section}
    given = [name for name, value in positions.items() if value is not None]
    chosen = _default_mode(given) if mode is None else Mode(clean_one_of(mode, list(Mode), "mode"))
    if extra := [name for name in given if name not in TAKES[chosen]]:
        label = chosen if mode is None else f"mode {chosen}"
        raise InvalidInput(f"{label} does not go with {' and '.join(extra)}.", hint=TOGETHER)
    return chosen


def _default_mode(given: Sequence[str]) -> Mode:
    if "section" in given:
        return Mode.SECTION
    if "end" in given:
        return Mode.REPLACE_LINES
    return Mode.INSERT if given else Mode.REPLACE


def edited(
    text: str, content: str, mode: Mode, *, line: int | None, end: int | None, section: str | None
) -> str:
    """The text with the edit applied. What comes between its lines has the line ends that it has.

    Raises InvalidInput for a line or section that it does not have.
    """
    if mode == Mode.REPLACE:
        return content
    line_end = line_end_of(text)
    content = with_line_ends_of(text, content)
    lines, added = _with_ends(text), _with_ends(content)
    if mode in (Mode.SECTION, Mode.APPEND_SECTION):
        place = _place_in_section(text, lines, section or "", added, mode)
        added = _apart_from(added, lines[place.stop :], line_end)
    else:
        place = _line_range(len(lines), mode, line or 0, end)
    is_last = place.stop == len(lines) and bool(added)
    # The result ends with a line break if the old text did, or the content that is its new end.
    has_break = text.endswith("\n") or (is_last and content.endswith("\n"))
    return _joined([*lines[: place.start], *added, *lines[place.stop :]], line_end, has_break=has_break)


def pieces_of_change(old: str, new: str) -> tuple[str, str, str]:
    """The unchanged beginning, the new part, and the unchanged end of `new`."""
    start = _common_prefix(old, new)
    end = len(new) - _common_prefix(old[start:][::-1], new[start:][::-1])
    return new[:start], new[start:end], new[end:]


def _common_prefix(first: str, second: str) -> int:
    """The length of the common prefix, by binary search: comparing slices is fast."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _place_in_section(text: str, lines: Sequence[str], name: str, added: Sequence[str], mode: Mode) -> slice:
    section = find_section(text, name)
    if mode == Mode.SECTION:
        return lines_after_heading(lines, section, added)
    end = body_of(lines, section).stop
    return slice(end, end)


def _apart_from(added: list[str], following: Sequence[str], line_end: str) -> list[str]:
    """A blank line keeps a text apart from a heading that is underlined: else it would become part of it."""
    is_near = added and added[-1].strip() and following and following[0].strip()
    if not is_near or following[0].lstrip().startswith("#"):
        return added
    return [*added[:-1], added[-1] if added[-1].endswith("\n") else f"{added[-1]}{line_end}", line_end]


def _with_ends(text: str) -> list[str]:
    """The lines with their breaks; the last one may have none."""
    lines = [f"{line}\n" for line in split_lines(text)]
    return lines if not lines or text.endswith("\n") else [*lines[:-1], lines[-1][:-1]]


def _joined(lines: list[str], line_end: str, *, has_break: bool) -> str:
    whole = [line if line.endswith("\n") else f"{line}{line_end}" for line in lines]
    if whole and not has_break:
        whole[-1] = whole[-1].removesuffix("\r\n").removesuffix("\n")
    return "".join(whole)


def _line_range(total: int, mode: Mode, line: int, end: int | None) -> slice:
    """The lines to replace."""
    if mode == Mode.INSERT:
        _refuse_beyond(line, "line", total + 1, "one more to add at the end")
        return slice(line - 1, line - 1)
    _refuse_beyond(line, "line", total, "")
    end = line if end is None else end
    _refuse_beyond(end, "end", total, "")
    if end < line:
        raise InvalidInput(f"end is {end}, before line {line}.")
    return slice(line - 1, end)


def _refuse_beyond(line: int, name: str, last: int, note: str) -> None:
    if not 1 <= line <= last:
        lines = counted(last - 1 if note else last, "lines")
        more = f", and {note}" if note else ""
        raise InvalidInput(f"{name} is {shown(line)}; the pad has {lines}{more}.")
