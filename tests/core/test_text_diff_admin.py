"""The differences between two texts, as the history of the admin shows them."""

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.admin.text_diff import Kind, diff

LINES = [f"line {number} says something of its own\n" for number in range(300)]
RANDOM = tuple("".join(Random(seed).choices("ab. \n", k=65_536)) for seed in (1, 2))


def pieces_of(old: str, new: str) -> list[tuple[Kind, str]]:
    return [(piece.kind, piece.text) for piece in diff(old, new)]


def test_a_changed_word_is_marked_between_unchanged_words() -> None:
    assert pieces_of("JWT for 15 minutes at most", "JWT for 10 minutes at most") == [
        ("same", "JWT for "),
        ("removed", "15"),
        ("added", "10"),
        ("same", " minutes at most"),
    ]


def test_texts_with_little_in_common_are_shown_one_after_the_other() -> None:
    pieces = pieces_of("Because it is simple to run", "Sessions would tie us to one machine")
    assert [kind for kind, _ in pieces] == ["removed", "added"]


def test_unchanged_lines_of_a_long_text_are_counted() -> None:
    changed = [*LINES[:150], "another line\n", *LINES[151:]]
    kinds = [piece.kind for piece in diff("".join(LINES), "".join(changed))]
    assert kinds == ["skipped", "same", "removed", "added", "same", "skipped"]
    assert diff("".join(LINES), "".join(changed))[0].text == "148 unchanged lines"


def test_an_addition_to_the_longest_text_is_found() -> None:
    text = "a line of a pad that has many of them\n" * 25_000
    pieces = diff(text, f"{text}\nand this")
    assert [(piece.kind, piece.text) for piece in pieces if piece.kind != "same"] == [
        ("skipped", "24,998 unchanged lines"),
        ("added", "\nand this"),
    ]


def test_chinese_characters_are_compared_one_by_one() -> None:
    assert pieces_of("使用者必須登入系統", "使用者應該登入系統") == [
        ("same", "使用者"),
        ("removed", "必須"),
        ("added", "應該"),
        ("same", "登入系統"),
    ]


def test_a_changed_word_in_a_long_paragraph_is_shown_with_its_context() -> None:
    words = [f"word{number}" for number in range(2_000)]
    changed = [*words[:1_000], "other", *words[1_001:]]
    pieces = pieces_of(" ".join(words), " ".join(changed))
    assert [kind for kind, _ in pieces] == ["skipped", "same", "removed", "added", "same", "skipped"]
    assert pieces[2:4] == [("removed", "word1000"), ("added", "other")]


def test_changed_words_in_two_sentences_of_a_long_paragraph_are_found() -> None:
    sentences = [f"The sentence {number} says something of its own. " for number in range(200)]
    changed = ["".join(sentences)]
    for number in (20, 150):
        changed.append(changed[-1].replace(f"sentence {number} says", f"sentence {number} hides"))
    pieces = pieces_of(changed[0], changed[-1])
    assert [text for kind, text in pieces if kind == "added"] == ["hides", "hides"]


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_pieces_hold_both_texts(old: str, new: str) -> None:
    pieces = diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a b " * 16_000, "b a " * 16_000),
        ("a\n" * 32_000, "b\n" * 32_000),
        ("x" * 65_536, "y" * 65_536),
        ("界" * 65_536, "世" * 65_536),
        RANDOM,
    ],
)
def test_the_largest_texts_are_compared_quickly(old: str, new: str) -> None:
    started = time.perf_counter()
    diff(old, new)
    assert time.perf_counter() - started < 2
