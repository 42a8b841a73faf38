"""Texts wrapped into lines for drawings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.console.text_lines import width_of, wrap_text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("short", ["short"]),
        ("two words here", ["two words", "here"]),
        ("  blanks \n are   one ", ["blanks are", "one"]),
        ("onewordthatislongerthanaline", ["onewordth", "atislong…"]),
        ("服務效能瓶頸快取調校筆記", ["服務效能瓶", "頸快取調…"]),
        ("api/auth/method", ["api/auth/", "method"]),
        ("one two three four five", ["one two", "three fou…"]),
    ],
)
def test_a_text_is_wrapped_at_blanks_and_truncated(text: str, lines: list[str]) -> None:
    assert wrap_text(text, 5.2, lines=2) == lines


def test_a_combining_mark_stays_with_its_letter() -> None:
    assert all(line[0] != "\u0301" for line in wrap_text("e\u0301" * 40, 4, lines=3))


@given(text=st.text(max_size=700), width=st.floats(4, 40), lines=st.integers(1, 4))
def test_lines_are_never_too_many_too_wide_or_empty(text: str, width: float, lines: int) -> None:
    wrapped = wrap_text(text, width, lines=lines)
    assert len(wrapped) <= lines
    assert all(wrapped)
    assert all(width_of(line) <= width for line in wrapped)
    assert bool(wrapped) == bool(text[:500].split())
