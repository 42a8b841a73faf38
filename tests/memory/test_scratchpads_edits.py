"""The ways of editing a pad: before a line, some lines, a section's end."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from memory.models import PadChange
from memory.scratchpads.rules.edits import MODES, edited
from memory.scratchpads.selectors.lines import Heading, headings, split_lines
from memory.scratchpads.services.scratchpads import update_scratchpad
from tests.memory.pads import CONTRADICTIONS, MEANT, SECTIONS, content_of, pad_of, states_of

THREE = "one\ntwo\nthree"


def edit(
    text: str, content: str, mode: str, line: int | None = None, end: int | None = None, section: str = ""
) -> str:
    return edited(text, content, MODES[mode], line=line, end=end, section=section)


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
def test_a_line_ends_with_a_line_break_and_with_nothing_else(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    ("text", "line", "content", "wanted"),
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
def test_what_is_inserted_stands_before_the_line(text: str, line: int, content: str, wanted: str) -> None:
    assert edit(text, content, "insert", line) == wanted


@pytest.mark.parametrize(
    ("line", "end", "content", "wanted"),
    [
        (1, None, "new", "new\ntwo\nthree"),
        (2, 3, "new", "one\nnew"),
        (2, 2, "a\nb", "one\na\nb\nthree"),
        (1, 3, "", ""),
        (3, None, "", "one\ntwo"),
        (2, None, "\n", "one\n\nthree"),
    ],
)
def test_lines_are_replaced_or_removed(line: int, end: int | None, content: str, wanted: str) -> None:
    assert edit(THREE, content, "replace_lines", line, end) == wanted
    kept = f"{wanted}\n" if wanted else ""
    assert edit(f"{THREE}\n", content, "replace_lines", line, end) == kept


@pytest.mark.parametrize(
    ("mode", "line", "end", "why"),
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
def test_a_line_that_is_not_there_is_refused(mode: str, line: int, end: int | None, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
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
def test_a_sections_end_is_before_the_next_heading_as_high(section: str, before: str) -> None:
    found = edit(DOCUMENT, "- new", "section", section=section)
    assert f"- new{before}" in found
    assert found.replace("- new\n", "", 1) == DOCUMENT


def test_an_empty_section_gets_its_first_line() -> None:
    assert edit("# A\n# B", "new", "section", section="A") == "# A\nnew\n# B"
    assert edit("# A\n\n\n# B\n\n", "new", "section", section="b") == "# A\n\n\n# B\nnew\n\n"


def test_the_first_of_two_of_one_name_is_meant() -> None:
    assert edit("# A\n# B\n# A", "new", "section", section="A") == "# A\nnew\n# B\n# A"


def test_a_heading_is_found_however_its_letters_are_made() -> None:
    assert edit("# Cafe\u0301", "new", "section", section="CAF\u00c9") == "# Cafe\u0301\nnew"


@pytest.mark.parametrize("section", ["Nothing", "not a heading", "#"])
def test_an_unknown_section_names_those_there_are(section: str) -> None:
    with pytest.raises(InvalidInput, match="no heading") as refused:
        edit(DOCUMENT, "new", "section", section=section)
    assert refused.value.details["allowed"] == ["Findings", "Details", "Plan"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A", [Heading(1, "A", 1)]),
        ("x\n###### deep ######\r\n", [Heading(6, "deep", 2)]),
        ("#\n", [Heading(1, "", 1)]),
        ("####### seven\n#none\n    # code\n\\# no", []),
        ("```python\n# no\n```\n# yes", [Heading(1, "yes", 4)]),
        ("~~~~\n```\n~~~\n# no\n~~~~\n# yes", [Heading(1, "yes", 6)]),
        ("```\n# no\n``` still\n# no", []),
        ("``` a`b\n# yes", [Heading(1, "yes", 2)]),
        ("   ````\n# no\n```\n# no\n`````\n# yes", [Heading(1, "yes", 6)]),
    ],
)
def test_headings_are_those_of_markdown_outside_of_code(text: str, found: list[Heading]) -> None:
    assert list(headings(split_lines(text))) == found


def test_a_hostile_text_is_read_in_time() -> None:
    lines = ["# " + "# " * 50_000, "#" * 100_000, " " * 100_000, "`" * 100_000, "# x" + " #" * 50_000]
    assert len(list(headings(lines))) <= 2


# -- Through the service ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "wanted", "change"),
    [
        ({"content": "new"}, "new", PadChange.REPLACED),
        ({"content": "new", "mode": "insert", "line": 1}, "new\n# A\nx", PadChange.INSERTED),
        (
            {"content": "new", "mode": "Replace_Lines", "line": 1, "end": 2},
            "new",
            PadChange.LINES_REPLACED,
        ),
        ({"content": "new", "mode": "section", "section": "a"}, "# A\nx\nnew", PadChange.SECTION_EXTENDED),
    ],
)
def test_each_mode_writes_and_is_remembered(
    ada: Caller, said: dict[str, Any], wanted: str, change: PadChange
) -> None:
    pad = pad_of(ada, "# A\nx")
    update_scratchpad(caller=ada, scratchpad_id=pad, **said)
    assert content_of(pad) == wanted
    assert states_of(pad)[-1].change == change


@pytest.mark.parametrize(("said", "wanted", "change"), MEANT, ids=str)
def test_without_a_mode_the_place_tells_which_is_meant(
    ada: Caller, said: dict[str, Any], wanted: str, change: PadChange
) -> None:
    pad = pad_of(ada, SECTIONS)
    update_scratchpad(caller=ada, scratchpad_id=pad, content="new", **said)
    assert content_of(pad) == wanted
    assert states_of(pad)[-1].change == change


@pytest.mark.parametrize(("said", "why"), CONTRADICTIONS, ids=str)
def test_what_does_not_go_together_is_refused(ada: Caller, said: dict[str, Any], why: str) -> None:
    pad = pad_of(ada, "# A\nx")
    with pytest.raises(InvalidInput, match=why) as refused:
        update_scratchpad(caller=ada, scratchpad_id=pad, content="new", **said)
    assert "line and end" in refused.value.hint
    assert (content_of(pad), len(states_of(pad))) == ("# A\nx", 1)


@pytest.mark.parametrize(
    ("said", "why"),
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
        ({"content": "", "mode": "section", "section": "A"}, "content must not be empty"),
        ({"content": "x", "mode": "prepend"}, "mode: 'prepend' is not known"),
        ({"content": "x\x00"}, "NUL"),
    ],
)
def test_what_a_mode_needs_must_be_said(ada: Caller, said: dict[str, Any], why: str) -> None:
    pad = pad_of(ada, "# A\nx")
    with pytest.raises(InvalidInput, match=why):
        update_scratchpad(caller=ada, scratchpad_id=pad, **said)
    assert content_of(pad) == "# A\nx"
