"""What changed between two texts, as the history shows it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.admin.text_diff import Kind, diff

LINES = [f"line {number} says something of its own\n" for number in range(300)]


def said(old: str, new: str) -> list[tuple[Kind, str]]:
    return [(piece.kind, piece.text) for piece in diff(old, new)]


def test_a_word_that_changed_stands_among_those_that_did_not() -> None:
    assert said("JWT for 15 minutes at most", "JWT for 10 minutes at most") == [
        ("same", "JWT for "),
        ("removed", "15"),
        ("added", "10"),
        ("same", " minutes at most"),
    ]


def test_texts_with_little_in_common_stand_one_after_the_other() -> None:
    pieces = said("Because it is simple to run", "Sessions would tie us to one machine")
    assert [kind for kind, _ in pieces] == ["removed", "added"]


def test_unchanged_lines_of_a_long_text_are_counted() -> None:
    changed = [*LINES[:150], "another line\n", *LINES[151:]]
    kinds = [piece.kind for piece in diff("".join(LINES), "".join(changed))]
    assert kinds == ["skipped", "same", "removed", "added", "same", "skipped"]
    assert diff("".join(LINES), "".join(changed))[0].text == "148 unchanged lines"


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_pieces_hold_both_texts(old: str, new: str) -> None:
    pieces = diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == new


@pytest.mark.parametrize(
    ("old", "new"),
    [("a b " * 16_000, "b a " * 16_000), ("a\n" * 32_000, "b\n" * 32_000), ("x" * 65_536, "y" * 65_536)],
)
def test_the_largest_texts_are_compared_in_a_moment(old: str, new: str) -> None:
    started = time.perf_counter()
    diff(old, new)
    assert time.perf_counter() - started < 2
