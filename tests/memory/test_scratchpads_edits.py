"""Edit modes of a pad: insert before a line, replace lines, extend a section."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.text.lines import split_lines
from memory.models import PadChange
from memory.scratchpads.edits import Mode, edited
from memory.scratchpads.services import update_scratchpad
from tests.memory.pads import CONTRADICTIONS, INFERRED_MODES, SECTIONS, content_of, pad_of, revisions_of

THREE = "one\ntwo\nthree"


def edit(
    text: str, content: str, mode: str, line: int | None = None, end: int | None = None, section: str = ""
) -> str:
    return edited(text, content, Mode(mode), line=line, end=end, section=section)


# -- Lines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("\n", [""]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb", ["a\r", "b"]),
        ("a\u2028b\x0cc", ["a\u2028b\x0cc"]),
    ],
)
def test_lines_end_only_at_line_feeds(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    ("text", "line", "content", "expected"),
    [
        (THREE, 1, "new", "new\none\ntwo\nthree"),
        (THREE, 3, "new", "one\ntwo\nnew\nthree"),
        (THREE, 4, "new", "one\ntwo\nthree\nnew"),
        (THREE, 4, "new\n", "one\ntwo\nthree\nnew\n"),
        (THREE, 2, "a\nb\n", "one\na\nb\ntwo\nthree"),
        (THREE, 2, "\n", "one\n\ntwo\nthree"),
        (THREE + "\n", 4, "new", "one\ntwo\nthree\nnew\n"),
        ("", 1, "new", "new"),
        ("a\r\nb\r\n", 2, "new\r\n", "a\r\nnew\r\nb\r\n"),
    ],
)
def test_insert_puts_the_content_before_the_line(text: str, line: int, content: str, expected: str) -> None:
    assert edit(text, content, "insert", line) == expected


@pytest.mark.parametrize(
    ("line", "end", "content", "expected"),
    [
        (1, None, "new", "new\ntwo\nthree"),
        (2, 3, "new", "one\nnew"),
        (2, 2, "a\nb", "one\na\nb\nthree"),
        (1, 3, "", ""),
        (3, None, "", "one\ntwo"),
        (2, None, "\n", "one\n\nthree"),
    ],
)
def test_lines_are_replaced_or_removed(line: int, end: int | None, content: str, expected: str) -> None:
    assert edit(THREE, content, "replace_lines", line, end) == expected
    with_line_break = f"{expected}\n" if expected else ""
    assert edit(f"{THREE}\n", content, "replace_lines", line, end) == with_line_break


@pytest.mark.parametrize(
    ("mode", "line", "end", "message"),
    [
        ("insert", 0, None, "line is 0; the pad has 3 lines, and one more"),
        ("insert", 5, None, "line is 5; the pad has 3 lines, and one more"),
        ("insert", -1, None, "line is -1"),
        ("insert", 10**30, None, "line is 1000"),
        ("replace_lines", 4, None, "line is 4; the pad has 3 lines."),
        ("replace_lines", 1, 4, "end is 4; the pad has 3 lines."),
        ("replace_lines", 2, 1, "end is 1, before line 2"),
    ],
)
def test_an_unknown_line_is_refused(mode: str, line: int, end: int | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        edit(THREE, "new", mode, line, end)


# -- Sections --------------------------------------------------------------------------------------

DOCUMENT = """# Findings

Slow.

## Details

- a
- b

# Plan
1. fix
```
# not a heading
```
"""


@pytest.mark.parametrize(
    ("section", "before"),
    [
        ("Details", "\n\n# Plan"),
        ("## details", "\n\n# Plan"),
        (" DETAILS ", "\n\n# Plan"),
        ("Findings", "\n\n# Plan"),
        ("Plan", "\n"),
    ],
)
def test_a_section_ends_before_the_next_heading_of_its_level_or_higher(section: str, before: str) -> None:
    found = edit(DOCUMENT, "- new", "append_section", section=section)
    assert f"- new{before}" in found
    assert found.replace("- new\n", "", 1) == DOCUMENT


def test_an_empty_section_gets_its_first_line() -> None:
    assert edit("# A\n# B", "new", "append_section", section="A") == "# A\nnew\n# B"
    assert edit("# A\n\n\n# B\n\n", "new", "append_section", section="b") == "# A\n\n\n# B\nnew\n\n"


def test_headings_match_in_any_unicode_normal_form() -> None:
    assert edit("# Cafe\u0301", "new", "append_section", section="CAF\u00c9") == "# Cafe\u0301\nnew"


@pytest.mark.parametrize("section", ["Nothing", "not a heading", "#"])
def test_an_unknown_section_lists_the_known_ones(section: str) -> None:
    with pytest.raises(InvalidInput, match="no heading") as refused:
        edit(DOCUMENT, "new", "append_section", section=section)
    assert refused.value.details["allowed"] == ["Findings", "Details", "Plan"]


# -- Through the service ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected", "change"),
    [
        ({"content": "new"}, "new", PadChange.REPLACED),
        ({"content": "new", "mode": "insert", "line": 1}, "new\n# A\nx", PadChange.INSERTED),
        (
            {"content": "new", "mode": "Replace_Lines", "line": 1, "end": 2},
            "new",
            PadChange.LINES_REPLACED,
        ),
        ({"content": "new", "mode": "section", "section": "a"}, "# A\nnew", PadChange.LINES_REPLACED),
        (
            {"content": "new", "mode": "append_section", "section": "a"},
            "# A\nx\nnew",
            PadChange.SECTION_EXTENDED,
        ),
    ],
)
def test_each_mode_edits_and_is_recorded(
    ada: Caller, arguments: dict[str, Any], expected: str, change: PadChange
) -> None:
    pad = pad_of(ada, "# A\nx")
    update_scratchpad(caller=ada, scratchpad_id=pad, **arguments)
    assert content_of(pad) == expected
    assert revisions_of(pad)[-1].change == change


@pytest.mark.parametrize(("arguments", "expected", "change"), INFERRED_MODES, ids=str)
def test_the_mode_is_inferred_from_the_place(
    ada: Caller, arguments: dict[str, Any], expected: str, change: PadChange
) -> None:
    pad = pad_of(ada, SECTIONS)
    update_scratchpad(caller=ada, scratchpad_id=pad, content="new", **arguments)
    assert content_of(pad) == expected
    assert revisions_of(pad)[-1].change == change


@pytest.mark.parametrize(("arguments", "message"), CONTRADICTIONS, ids=str)
def test_contradicting_arguments_are_refused(ada: Caller, arguments: dict[str, Any], message: str) -> None:
    pad = pad_of(ada, "# A\nx")
    with pytest.raises(InvalidInput, match=message) as refused:
        update_scratchpad(caller=ada, scratchpad_id=pad, content="new", **arguments)
    assert "line and end" in refused.value.hint
    assert (content_of(pad), len(revisions_of(pad))) == ("# A\nx", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": "x", "end": 1}, "line must be given"),
        ({"content": "x", "section": ""}, "section must not be blank"),
        ({"content": "", "line": 1}, "content must not be empty"),
        ({"content": "x", "line": 0}, "line is 0"),
        ({"content": "x", "mode": "", "line": 1}, "mode: '' is not known"),
        ({"content": "x", "mode": "insert"}, "line must be given"),
        ({"content": "x", "mode": "replace_lines"}, "line must be given"),
        ({"content": "x", "mode": "section"}, "section must be given"),
        ({"content": "x", "mode": "section", "section": " "}, "section must not be blank"),
        ({"content": "x", "mode": "section", "section": "\x00"}, "NUL"),
        ({"content": "", "mode": "insert", "line": 1}, "content must not be empty"),
        ({"content": "", "mode": "append_section", "section": "A"}, "content must not be empty"),
        ({"content": "x", "mode": "append_section"}, "section must be given"),
        ({"content": "x", "mode": "prepend"}, "mode: 'prepend' is not known"),
        ({"content": "x\x00"}, "NUL"),
    ],
)
def test_arguments_that_a_mode_requires_are_checked(
    ada: Caller, arguments: dict[str, Any], message: str
) -> None:
    pad = pad_of(ada, "# A\nx")
    with pytest.raises(InvalidInput, match=message):
        update_scratchpad(caller=ada, scratchpad_id=pad, **arguments)
    assert content_of(pad) == "# A\nx"
