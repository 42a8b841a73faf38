"""Parts of a long text: the `lines` argument, where a part ends, and that all parts join to the text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.text import token_count
from ctxhub.core.text.graphemes import is_tail
from ctxhub.core.text.parts import LineRange, count_lines, json_tokens, part_of
from ctxhub.core.text.token_count import use_exact_counts
from tests.timing import check_cpu_seconds, cpu_seconds

MIB = 1_048_576
FAMILY = "👨‍👩‍👧‍👦"


def read_on(text: str, budget: int) -> list[str]:
    """All parts of a text, each read with the mark of the one before; no mark comes twice."""
    parts: list[str] = []
    marks: set[str] = set()
    lines = None
    while True:
        whole = part_of(text, lines)
        part = whole.within(budget)
        parts.append(part.content)
        if part == whole:
            return parts
        mark = whole.rest_after(part)
        assert mark not in marks
        marks.add(mark)
        lines = LineRange.read(mark)


# -- Line ranges -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("10-40", LineRange(10, 1, 40)),
        ("10-", LineRange(10)),
        ("12", LineRange(12, 1, 12)),
        ("12@21000-", LineRange(12, 21_000)),
        ("12@21000", LineRange(12, 21_000, 12)),
        ("12@21000-80", LineRange(12, 21_000, 80)),
        ("rationale:12-", LineRange(12, 1, None, "rationale")),
        (" Rationale : 3@4 - 5 ", LineRange(3, 4, 5, "rationale")),
    ],
)
def test_a_line_range_is_parsed(lines: str, expected: LineRange) -> None:
    assert LineRange.read(lines) == expected


@pytest.mark.parametrize(
    "lines",
    ["", "-", "0", "1@0", "3-2", "-3", "1-2-3", "1@2@3", "1-2@3", "a", "a:", "a:b:1", "1.5", "1,2", "٣"],
)
def test_an_invalid_line_range_is_refused_with_the_valid_forms(lines: str) -> None:
    with pytest.raises(InvalidInput, match="is no range of lines") as refused:
        LineRange.read(lines)
    assert "12@21000-" in refused.value.hint


def test_characters_count_from_one_and_a_line_break_ends_its_line() -> None:
    text = "abc\ndef\n"
    assert part_of(text, LineRange.read("1@1-")).content == text
    assert part_of(text, LineRange.read("1@3-")).content == "c\ndef\n"
    assert part_of(text, LineRange.read("1@4-")).content == "\ndef\n"
    assert part_of(text, LineRange.read("1@5-")).content == "def\n"
    assert part_of(text, LineRange.read("1@3")).content == "c"


@pytest.mark.parametrize(
    ("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\n\n", 2), ("a\nb", 2)]
)
def test_a_trailing_line_break_adds_no_line(text: str, lines: int) -> None:
    assert count_lines(text) == lines


@given(st.lists(st.text("ab", max_size=3), max_size=12), st.integers(1, 14), st.integers(0, 14))
def test_a_part_has_the_lines_of_a_split_text(lines: list[str], first: int, more: int) -> None:
    text = "".join(f"{line}\n" for line in lines)
    part = part_of(text, LineRange(first, last=first + more))
    reaches_end = first + more >= len(lines)
    expected = "".join(f"{line}\n" for line in lines[first - 1 : first + more])
    assert part.content == (expected if reaches_end else expected[:-1])
    shown = f"{first}-{min(first + more, len(lines))}" if first <= len(lines) else ""
    assert part.lines == shown


# -- Where a part ends -----------------------------------------------------------------------------


def test_a_part_has_as_many_whole_lines_as_fit() -> None:
    text = "".join(f'line "{n}"\n' for n in range(1, 101))
    whole = part_of(text)
    part = whole.within(120)
    lines = part.content.count("\n")
    assert part.content == "".join(text.splitlines(keepends=True)[:lines])
    assert json_tokens(part.content) <= 120
    assert json_tokens("".join(text.splitlines(keepends=True)[: lines + 1])) > 120
    assert (part.lines, whole.rest_after(part)) == (f"1-{lines}", f"{lines + 1}-100")


def test_a_too_long_line_is_cut_at_a_word_and_continued_by_character() -> None:
    text = "first\n" + "the quick brown fox jumps over the lazy dog " * 50
    whole = part_of(text, LineRange(2))
    part = whole.within(40)
    assert part.content.endswith(("the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"))
    assert 30 < json_tokens(part.content) <= 40
    assert (part.lines, whole.rest_after(part)) == ("2-2", f"2@{len(part.content) + 1}-")


def test_the_rest_of_a_range_ends_where_the_range_ends() -> None:
    text = "a word and another\n" * 30
    whole = part_of(text, LineRange.read("3-20"))
    part = whole.within(40)
    rest = whole.rest_after(part)
    assert rest.endswith("-20")
    assert part.content + part_of(text, LineRange.read(rest)).content == whole.content


@pytest.mark.parametrize(
    "grapheme", [FAMILY, "e\u0301", "\r\n", "🇫🇮", "👍🏽", "각", "กำ", "\ufe0f".join("❤❤")]
)
@pytest.mark.parametrize("budget", range(1, 60, 7))
def test_no_grapheme_is_cut(grapheme: str, budget: int) -> None:
    text = grapheme * 40
    parts = read_on(text, budget)
    assert "".join(parts) == text
    ends = [sum(map(len, parts[:n])) for n in range(1, len(parts))]
    assert not any(is_tail(text, end) or text[end - 1 : end + 1] == "\r\n" for end in ends)


def test_a_budget_of_zero_still_makes_progress() -> None:
    parts = read_on("word " * 200, 0)
    assert "".join(parts) == "word " * 200
    assert len(parts) < 100


def test_an_overlong_grapheme_is_cut() -> None:
    text = "e" + "\u0301" * 50_000
    parts = read_on(text, 1_000)
    assert "".join(parts) == text


# -- All parts -------------------------------------------------------------------------------------


@given(st.text(st.sampled_from('ab 1,é快\n\r"\\👍🏽\u200d\u0301🇫🇮'), max_size=300), st.integers(-3, 80))
@example("\n" * 100, 5)
@example("\r\n" * 100, 5)
@example("a\r", 1)
@example("", 1)
def test_the_parts_join_to_the_text_and_keep_the_budget(text: str, budget: int) -> None:
    parts = read_on(text, budget)
    assert "".join(parts) == text
    smallest = 20  # For a budget too small for one character.
    assert all(json_tokens(part) <= max(budget, smallest) for part in parts)
    assert all(parts) or parts == [""]


ENDLESS = {
    "one line": "x" * MIB,
    "a million lines": "\n" * MIB,
    "lines of Windows": "\r\n" * (MIB // 8),
    "blanks": " " * MIB,
    "words": "some words " * (MIB // 11),
    "Chinese": "効" * (MIB // 3),
    "families": FAMILY * (MIB // 25),
    "marks of JSON": '"\\' * (MIB // 2),
    "controls": "\x01" * 50_000,
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_text_of_many_parts_is_read_to_its_end_in_fast_ones(kind: str) -> None:
    text = ENDLESS[kind]
    start = cpu_seconds()
    parts = read_on(text, 19_900)
    seconds = (cpu_seconds() - start) / len(parts)
    assert "".join(parts) == text
    assert all(json_tokens(part) <= 19_900 for part in parts)
    assert len(parts) > 1
    check_cpu_seconds(seconds, 0.3)


@pytest.mark.parametrize("kind", ["one line", "Chinese", "marks of JSON"])
def test_parts_keep_the_budget_with_exact_token_counts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_count, "_count", token_count._count)
    use_exact_counts()
    parts = read_on(ENDLESS[kind], 19_900)
    assert "".join(parts) == ENDLESS[kind]
    assert all(json_tokens(part) <= 19_900 for part in parts)
