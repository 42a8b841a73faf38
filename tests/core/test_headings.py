"""The headings of Markdown texts, and the sections that they begin."""

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ctxhub.core.text.headings import Heading, Section, headings, outline, sections
from tests.timing import within_cpu_seconds


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
    assert list(headings(text)) == found


HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?")


@given(st.text(alphabet="# \t\rab\u2003", max_size=12))
def test_the_text_of_a_heading_is_without_its_marks(line: str) -> None:
    """As this expression reads it, which takes the square of the line's length."""
    expected = HEADING.fullmatch(line)
    found = [(each.level, each.text) for each in headings(line)]
    assert found == ([(len(expected[1]), (expected[2] or "").strip())] if expected else [])


@pytest.mark.parametrize(
    "line",
    [
        "# " * 500_000,
        "#" * 1_000_000,
        " " * 1_000_000,
        "`" * 1_000_000,
        f"# x{' #' * 500_000}",
        f"# {' ' * 1_000_000}x",
        f"# x{' ' * 1_000_000}x",
    ],
    ids=range(7),
)
def test_a_long_line_is_read_in_time(line: str) -> None:
    with within_cpu_seconds(1):
        assert len(list(headings(f"{line}\n{line}"))) <= 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Plan\n====\nx", [Heading(1, "Plan", 1, 2)]),
        ("Plan\n----\nx", [Heading(2, "Plan", 1, 2)]),
        ("x\n\nPlan  \n   --  \n", [Heading(2, "Plan", 3, 2)]),
        ("Plan\r\n---\r\nx\r\n# B\r\n", [Heading(2, "Plan", 1, 2), Heading(1, "B", 4)]),
        ("# A\nPlan\n---\n---", [Heading(1, "A", 1), Heading(2, "Plan", 2, 2)]),
        ("***\nPlan\n---", [Heading(2, "Plan", 2, 2)]),
        ("A text\nPlan\n===", [Heading(1, "Plan", 2, 2)]),
        ("    code\nPlan\n---", [Heading(2, "Plan", 2, 2)]),
    ],
)
def test_an_underlined_line_is_a_heading(text: str, found: list[Heading]) -> None:
    assert list(headings(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "Plan\n\n---",
        "---\n===",
        "```\nPlan\n---\n```",
        "- a\n- b\n---",
        "1. a\n---",
        "- a\nmore of it\n---",
        "> quoted\n---",
        "| a | b |\n---",
        "a | b\n--- | ---\n1 | 2\n---",
        "<div>\n---",
        "    code\n---",
        "Text\n    more of it\n---",
        "Plan\n    ---",
        "Plan\n- - -",
        "Plan\n-",
        "Plan\n--- x",
        "***\n---",
    ],
)
def test_dashes_are_no_underline_of_anything_else(text: str) -> None:
    assert list(headings(text)) == []


@pytest.mark.parametrize("fence", ["---", "+++"])
def test_front_matter_has_no_headings(fence: str) -> None:
    text = f"{fence}\n# a comment\ntitle: Plan\n{fence}\nNext\n===\n"
    assert list(headings(text)) == [Heading(1, "Next", 5, 2)]


LINES = ["Plan", "of two", "---", "===", "", "# A", "- a", "1. x", "> q", "***", "```", "## S ##"]


def _by_markdown_it(text: str) -> list[Heading]:
    """Its headings, of underlined paragraphs the last lines."""
    return [
        Heading(int(token.tag[1]), lines[-1], token.map[1] - is_underlined, 1 + is_underlined)
        for token, inline in pairwise(MarkdownIt().parse(text))
        if token.type == "heading_open" and token.level == 0 and token.map
        for lines, is_underlined in [(inline.content.split("\n"), token.markup in "=-")]
    ]


@given(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join))
def test_headings_are_those_that_pages_show(text: str) -> None:
    """Left out: lines of `=` that underline nothing, which are paragraphs."""
    expected = _by_markdown_it(text)
    assume(not text.startswith("---"))
    assume(not re.search(r"(?m)(^|^(>|-|1\.).*)\n*===", text))
    assert list(headings(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Plan\n" * 200_000 + "---",
        "Plan\n---\n" * 100_000,
        "- a\n===\n" * 100_000,
        "=" * 1_000_000 + "\n" + "-" * 1_000_000,
        "Plan\n" + "-" * 1_000_000 + "x",
        "Plan\n" + "- " * 500_000,
    ],
    ids=range(6),
)
def test_many_underlined_lines_are_read_in_time(text: str) -> None:
    with within_cpu_seconds(3):
        list(headings(text))


def test_a_section_goes_to_the_next_heading_of_its_level() -> None:
    text = "# a\nx\n\n## b\ny\nc\n===\nz\n"
    places = [(each.heading.text, each.heading.line, each.last, each.size) for each in sections(text)]
    assert places == [("a", 1, 5, 14), ("b", 4, 5, 7), ("c", 6, 8, 8)]


def test_an_outline_counts_the_headings_that_it_leaves_out() -> None:
    text = "# a\n```\n# no\n```\n## b\n# c"
    a, b = Section(Heading(1, "a", 1), 5, 22), Section(Heading(2, "b", 5), 5, 5)
    assert outline(text, 9) == ([a, b, Section(Heading(1, "c", 6), 6, 3)], 3)
    assert outline(text, 2) == ([a, b], 3)
    assert outline(text, 0) == ([], 3)
