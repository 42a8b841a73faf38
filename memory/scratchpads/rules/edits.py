"""What the ways of editing make of a pad's text."""

import unicodedata
from collections.abc import Sequence

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import clean_one_of
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.text.plurals import counted
from memory.scratchpads.models.scratchpad import PadChange
from memory.scratchpads.selectors.lines import headings, split_lines

MODES = {
    "replace": PadChange.REPLACED,
    "insert": PadChange.INSERTED,
    "replace_lines": PadChange.LINES_REPLACED,
    "section": PadChange.SECTION_EXTENDED,
}
# What each takes to say where.
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
    """The way of editing that is said, or else meant: `section` means section, `end` replace_lines, `line`
    alone insert, none of them replace.

    Raises InvalidInput for what does not go together.
    """
    places = {"line": line, "end": end, "section": section}
    given = [name for name, value in places.items() if value is not None]
    meant = _meant(given) if mode is None else clean_one_of(mode, list(MODES), "mode")
    if extra := [name for name in given if name not in TAKES[meant]]:
        said = meant if mode is None else f"mode {meant}"
        raise InvalidInput(f"{said} does not go with {' and '.join(extra)}.", hint=TOGETHER)
    return MODES[meant]


def _meant(places: Sequence[str]) -> str:
    if "section" in places:
        return "section"
    if "end" in places:
        return "replace_lines"
    return "insert" if places else "replace"


def edited(
    text: str, content: str, change: PadChange, *, line: int | None, end: int | None, section: str | None
) -> str:
    """The text with the content in it; raises InvalidInput for a place that it does not have."""
    if change == PadChange.REPLACED:
        return content
    lines = split_lines(text)
    if change == PadChange.SECTION_EXTENDED:
        first = last = _end_of_section(lines, section or "")
    else:
        first, last = _stretch(len(lines), change, line or 0, end)
    added = split_lines(content)
    found = [*lines[:first], *added, *lines[last:]]
    is_last = last == len(lines) and bool(added)
    # The text goes on to end as it did, or as what is new at its end.
    ends = text.endswith("\n") or (is_last and content.endswith("\n"))
    return "\n".join(found) + ("\n" if ends and found else "")


def pieces_of_change(old: str, new: str) -> tuple[str, str, str]:
    """What a change kept before it, what is new, and what it kept behind it."""
    start = _alike(old, new)
    end = len(new) - _alike(old[start:][::-1], new[start:][::-1])
    return new[:start], new[start:end], new[end:]


def _alike(first: str, second: str) -> int:
    """How many characters two texts begin with alike; compares stretches, which takes no time."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _stretch(total: int, change: PadChange, line: int, end: int | None) -> tuple[int, int]:
    """What is replaced: behind which line it begins, and with which it ends."""
    if change == PadChange.INSERTED:
        _refuse_beyond(line, "line", total + 1, "one more to add at the end")
        return line - 1, line - 1
    _refuse_beyond(line, "line", total, "")
    end = line if end is None else end
    _refuse_beyond(end, "end", total, "")
    if end < line:
        raise InvalidInput(f"end is {end}, before line {line}.")
    return line - 1, end


def _refuse_beyond(line: int, name: str, last: int, besides: str) -> None:
    if not 1 <= line <= last:
        lines = counted(last - 1 if besides else last, "lines")
        more = f", and {besides}" if besides else ""
        raise InvalidInput(f"{name} is {shown(line)}; the pad has {lines}{more}.")


def _end_of_section(lines: Sequence[str], section: str) -> int:
    """Behind which line it ends: before the next heading that is as high; blank lines stay behind it."""
    found = list(headings(lines))
    wanted = _folded(section)
    place = next((n for n, heading in enumerate(found) if _folded(heading.text) == wanted), None)
    if place is None:
        names = list(dict.fromkeys(heading.text for heading in found if heading.text))
        raise InvalidInput(
            f"section: the pad has no heading {shown(section)}.",
            allowed=names[:HEADINGS_NAMED],
            hint=f"{operation('scratchpad get')} with outline=true lists the headings.",
        )
    behind = (h.line - 1 for h in found[place + 1 :] if h.level <= found[place].level)
    last = next(behind, len(lines))
    while not lines[last - 1].strip():
        last -= 1
    return last


def _folded(heading: str) -> str:
    return unicodedata.normalize("NFC", heading.strip().lstrip("#").strip()).casefold()
