"""Updates of a pad by section: what is replaced, what stays, what is refused; CRLF line ends."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from memory.scratchpads.edits import Mode, edited
from memory.scratchpads.services import append_to_scratchpad, update_scratchpad
from tests.hub import McpClient, RestClient
from tests.memory.pads import content_of, pad_of

DOCUMENT = """# Findings

Slow.

## Details

- a
- b

Plan
====
1. fix
```
# not a heading
```
"""


def replaced(text: str, content: str, section: str) -> str:
    return edited(text, content, Mode.SECTION, line=None, end=None, section=section)


def extended(text: str, content: str, section: str) -> str:
    return edited(text, content, Mode.APPEND_SECTION, line=None, end=None, section=section)


# -- What is replaced ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "gone"),
    [
        ("Details", "- a\n- b"),
        ("## details", "- a\n- b"),
        ("Findings", "Slow.\n\n## Details\n\n- a\n- b"),
        ("plan", "1. fix\n```\n# not a heading\n```"),
    ],
)
def test_the_body_is_replaced_up_to_the_next_heading_of_its_level(section: str, gone: str) -> None:
    assert replaced(DOCUMENT, "new", section) == DOCUMENT.replace(gone, "new")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n# B", "# A\nnew\n# B"),
        ("# A\n\n\n# B\n", "# A\nnew\n\n\n# B\n"),
        ("# A", "# A\nnew"),
        ("# A\n\nx\n\n\n# B", "# A\n\nnew\n\n\n# B"),
        ("A\n---\nx", "A\n---\nnew"),
    ],
)
def test_blank_lines_around_the_body_stay(text: str, expected: str) -> None:
    assert replaced(text, "new", "A") == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("# C\nnew", "# C\nnew\n# B"),
        ("\n# C\nnew", "\n# C\nnew\n# B"),
        ("C\n===\nnew", "C\n===\nnew\n# B"),
        ("### A\nnew", "### A\nnew\n# B"),
        ("### Deeper\nnew", "# A\n### Deeper\nnew\n# B"),
        ("new\n# C", "# A\nnew\n# C\n# B"),
        ("", "# A\n# B"),
    ],
)
def test_the_heading_stays_unless_the_text_has_its_own(content: str, expected: str) -> None:
    assert replaced("# A\nx\n# B", content, "A") == expected


def test_replacing_by_the_same_text_changes_nothing() -> None:
    once = replaced(DOCUMENT, "new\n", "Details")
    assert replaced(once, "new\n", "Details") == once


def test_a_text_does_not_become_part_of_the_underlined_heading_below_it() -> None:
    assert replaced("A\n===\nB\n===\n", "new", "A") == "A\n===\nnew\n\nB\n===\n"
    assert extended("A\n===\nx\nB\n===\n", "new", "B") == "A\n===\nx\nB\n===\nnew\n"


# -- What is refused -------------------------------------------------------------------------------


def test_an_unknown_section_names_a_few_that_exist() -> None:
    text = "\n".join(f"# Part {n}" for n in range(100))
    with pytest.raises(InvalidInput, match="no heading 'Prat 7'") as refused:
        replaced(text, "x", "Prat 7")
    assert len(refused.value.details["allowed"]) == 8
    assert str(refused.value.details["did_you_mean"]).startswith("Part")


def test_a_pad_without_headings_says_so() -> None:
    with pytest.raises(InvalidInput, match="It has none at all"):
        replaced("a\n\n---\nb", "x", "a")


@pytest.mark.parametrize("change", [replaced, extended])
def test_one_of_two_sections_of_a_name_is_refused_with_their_lines(change: Any) -> None:
    with pytest.raises(InvalidInput, match=r"2 sections 'a': lines 1-2, 4-5\.") as refused:
        change("# A\nx\n# B\n# A\ny", "new", "a")
    assert "replace_lines" in refused.value.hint


def test_marks_tell_sections_of_one_name_apart() -> None:
    text = "# A\n## Notes\nx\n# Notes\ny"
    with pytest.raises(InvalidInput) as refused:
        replaced(text, "new", "Notes")
    assert refused.value.details["allowed"] == ["## Notes", "# Notes"]
    assert replaced(text, "new", "## Notes") == "# A\n## Notes\nnew\n# Notes\ny"
    assert replaced(text, "new", "# Notes") == "# A\n## Notes\nx\n# Notes\nnew"


# -- CRLF ------------------------------------------------------------------------------------------

CRLF = DOCUMENT.replace("\n", "\r\n")


@pytest.mark.parametrize("section", ["Findings", "Details", "Plan"])
@pytest.mark.parametrize("change", [replaced, extended])
@pytest.mark.parametrize("content", ["one\ntwo", "one\r\ntwo\r\n"])
def test_a_section_of_a_crlf_pad_changes_as_another(change: Any, section: str, content: str) -> None:
    expected = change(DOCUMENT, content.replace("\r\n", "\n"), section)
    assert change(CRLF, content, section) == expected.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"line": 1}, "new\r\na\r\nb"),
        ({"line": 3}, "a\r\nb\r\nnew"),
        ({"line": 2, "end": 2}, "a\r\nnew"),
        ({"line": 1, "end": 2}, "new"),
    ],
)
def test_lines_of_a_crlf_pad_keep_their_ends(ada: Caller, arguments: dict[str, Any], expected: str) -> None:
    pad = pad_of(ada, "a\r\nb")
    update_scratchpad(caller=ada, scratchpad_id=pad, content="new", **arguments)
    assert content_of(pad) == expected


def test_a_crlf_pad_loses_its_last_line_whole(ada: Caller) -> None:
    pad = pad_of(ada, "a\r\nb")
    update_scratchpad(caller=ada, scratchpad_id=pad, content="", line=2, end=2)
    assert content_of(pad) == "a"


@pytest.mark.parametrize(
    ("text", "separator", "expected"),
    [
        ("a\r\n", None, "a\r\n\r\n\r\none\r\ntwo"),
        ("a\r\nb", "\n", "a\r\nb\r\none\r\ntwo"),
        ("a\r\nb", "", "a\r\nbone\r\ntwo"),
        ("a\nb", None, "a\nb\n\none\ntwo"),
        ("a", None, "a\n\none\ntwo"),
    ],
)
def test_appends_take_the_line_ends_of_the_pad(
    ada: Caller, text: str, separator: str | None, expected: str
) -> None:
    pad = pad_of(ada, text)
    answer = append_to_scratchpad(caller=ada, scratchpad_id=pad, content="one\ntwo", separator=separator)
    assert content_of(pad) == expected
    assert answer["new_length"] == len(expected)


def test_lines_of_a_crlf_pad_are_read_found_and_outlined(ada_mcp: McpClient, ada: Caller) -> None:
    pad = pad_of(ada, CRLF)
    read = ada_mcp.call("scratchpad", "get", scratchpad_id=pad, lines="7-8")["scratchpad"]
    assert (read["content"], read["lines"], read["total_lines"]) == ("- a\r\n- b", "7-8", 15)
    outline = ada_mcp.call("scratchpad", "get", scratchpad_id=pad, outline=True)["scratchpad"]["outline"]
    assert [row[:3] for row in outline["rows"]] == [[1, "Findings", 1], [2, "Details", 5], [1, "Plan", 10]]
    [found] = ada_mcp.rows("scratchpad", "search", query="fix", scratchpad_id=pad)
    assert (found["line"], found["snippet"]) == (12, "1. «fix»")


# -- Over MCP and REST -----------------------------------------------------------------------------


def test_the_answer_says_the_mode(ada_mcp: McpClient, ada_rest: RestClient, ada: Caller) -> None:
    pad = pad_of(ada, "# A\nx")
    place = {"section": "A", "content": "new"}
    assert ada_mcp.call("scratchpad", "update", scratchpad_id=pad, **place)["mode"] == "section"
    added = ada_rest.patch(f"scratchpads/{pad}/", {**place, "mode": "append_section"})
    assert added.body["mode"] == "append_section"
    assert content_of(pad) == "# A\nnew\nnew"
    modes = [
        ({"line": 1}, "insert"),
        ({"line": 1, "end": 1}, "replace_lines"),
        ({}, "replace"),
    ]
    for arguments, mode in modes:
        assert ada_rest.patch(f"scratchpads/{pad}/", {"content": "x", **arguments}).body["mode"] == mode


@pytest.mark.parametrize("mode", ["section", "append_section"])
def test_an_ambiguous_section_is_invalid_and_nothing_is_written(
    ada_mcp: McpClient, ada_rest: RestClient, ada: Caller, mode: str
) -> None:
    pad = pad_of(ada, "# A\n# A")
    body = {"section": "A", "content": "x", "mode": mode}
    over_mcp = ada_mcp.call("scratchpad", "update", scratchpad_id=pad, **body)
    over_rest = ada_rest.patch(f"scratchpads/{pad}/", body)
    assert over_mcp["message"] == "section: the pad has 2 sections 'A': lines 1-1, 2-2."
    assert (over_rest.status, over_rest.body) == (400, over_mcp)
    assert content_of(pad) == "# A\n# A"
