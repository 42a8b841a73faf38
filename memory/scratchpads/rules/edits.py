"""Applies the edit modes to a pad's text."""

import unicodedata
from collections.abc import Sequence

from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import clean_one_of
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.text.lines import split_lines
from ctxhub.core.text.plurals import counted
from memory.scratchpads.models.scratchpad import PadChange
from memory.scratchpads.rules.lines import headings

MODES = {
    "replace": PadChange.REPLACED,
    "insert": PadChange.INSERTED,
    "replace_lines": PadChange.LINES_REPLACED,
    "section": PadChange.SECTION_EXTENDED,
}
# The position arguments of each mode.
TAKES: dict[str, tuple[str, ...]] = {
    "replace": (),
    "insert": ("line",),
    "replace_lines": ("line", "end"),
    "section": ("section",),
}
TOGETHER = (
    "insert takes line, replace_lines takes line and end, section takes section; replace, the whole pad, "
    "takes none of them."
)
HEADINGS_NAMED = 50


def mode_of(mode: str | None, *, line: int | None, end: int | None, section: str | None) -> PadChange:
    """The given mode, or the default for the arguments: `section` gives section, `end` replace_lines, `line`
    alone insert, none of them replace.

    Raises InvalidInput for arguments that the mode does not take.
    """
    positions = {"line": line, "end": end, "section": section}
    given = [name for name, value in positions.items() if value is not None]
    chosen = _default_mode(given) if mode is None else clean_one_of(mode, list(MODES), "mode")
    if extra := [name for name in given if name not in TAKES[chosen]]:
        label = chosen if mode is None else f"mode {chosen}"
        raise InvalidInput(f"{label} does not go with {' and '.join(extra)}.", hint=TOGETHER)
    return MODES[chosen]


def _default_mode(given: Sequence[str]) -> str:
    if "section" in given:
        return "section"
    if "end" in given:
        return "replace_lines"
    return "insert" if given else "replace"


def edited(
    text: str, content: str, change: PadChange, *, line: int | None, end: int | None, section: str | None
) -> str:
    """The text with the edit applied. Raises InvalidInput for a line or section that it does not have."""
    if change == PadChange.REPLACED:
        return content
    lines = split_lines(text)
    if change == PadChange.SECTION_EXTENDED:
        first = last = _end_of_section(lines, section or "")
    else:
        first, last = _line_range(len(lines), change, line or 0, end)
    added = split_lines(content)
    merged = [*lines[:first], *added, *lines[last:]]
    is_last = last == len(lines) and bool(added)
    # The result ends with a line break if the old text did, or the content that is its new end.
    has_break = text.endswith("\n") or (is_last and content.endswith("\n"))
    return "\n".join(merged) + ("\n" if has_break and merged else "")


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


def _line_range(total: int, change: PadChange, line: int, end: int | None) -> tuple[int, int]:
    """The slice of lines to replace: the start index and the end index, exclusive."""
    if change == PadChange.INSERTED:
        _refuse_beyond(line, "line", total + 1, "one more to add at the end")
        return line - 1, line - 1
    _refuse_beyond(line, "line", total, "")
    end = line if end is None else end
    _refuse_beyond(end, "end", total, "")
    if end < line:
        raise InvalidInput(f"end is {end}, before line {line}.")
    return line - 1, end


def _refuse_beyond(line: int, name: str, last: int, note: str) -> None:
    if not 1 <= line <= last:
        lines = counted(last - 1 if note else last, "lines")
        more = f", and {note}" if note else ""
        raise InvalidInput(f"{name} is {shown(line)}; the pad has {lines}{more}.")


def _end_of_section(lines: Sequence[str], section: str) -> int:
    """The index after the section's last line that is not blank; a heading of its level or higher ends it."""
    found = list(headings("\n".join(lines)))
    wanted = _normalised(section)
    index = next((n for n, heading in enumerate(found) if _normalised(heading.text) == wanted), None)
    if index is None:
        names = list(dict.fromkeys(heading.text for heading in found if heading.text))
        message = f"section: the pad has no heading {shown(section)}."
        raise for_readers(
            InvalidInput(
                message,
                allowed=names[:HEADINGS_NAMED],
                hint=f"{operation('scratchpad get')} with outline=true lists the headings.",
            ),
            otherwise=message,
        )
    next_starts = (h.line - 1 for h in found[index + 1 :] if h.level <= found[index].level)
    last = next(next_starts, len(lines))
    while not lines[last - 1].strip():
        last -= 1
    return last


def _normalised(heading: str) -> str:
    return unicodedata.normalize("NFC", heading.strip().lstrip("#").strip()).casefold()
