"""The differences between two texts, as the pages of the admin show them."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.console.difference import parts_of
from ctxhub.console.sentence_diff import Kind
from ctxhub.console.text_diff import FOLDED_CHARACTERS, diff
from ctxhub.core.templatetags.differences import marked
from tests.timing import within_cpu_seconds

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


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (
            "We recieve the tokens from the hub.",
            "We receive the tokens from the hub.",
            ["-recieve", "+receive"],
        ),
        ("Use JWT.", "Use JWT for clients that come from outside.", ["+ for clients that come from outside"]),
        ("It waits. See config.py first.", "It waits. See routes.py first.", ["-config", "+routes"]),
        (
            "An agent asks the holder of a lease before it writes to the path.",
            "An agent asks the person on call before it writes to the path.",
            ["-holder of a lease", "+person on call"],
        ),
    ],
)
def test_the_words_of_an_edited_sentence_are_marked(old: str, new: str, changed: list[str]) -> None:
    assert [
        f"{'+' if kind == 'added' else '-'}{text}" for kind, text in pieces_of(old, new) if kind != "same"
    ] == changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Because it is simple to run", "Sessions would tie us to one machine"),
        (
            "The cache keeps each answer for five minutes, so that a second agent does not wait.",
            "Answers are kept for ten minutes, and a second agent waits at most once for them.",
        ),
        (
            "The hub writes the event and the row in one transaction, and the index after it.",
            "In one transaction the hub first asks for the lock, the row is written, and then the event.",
        ),
        ("快取會保留每個答案五分鐘。", "答案只留十分鐘,之後要重新計算。"),
    ],
)
def test_a_rewritten_sentence_shows_whole(old: str, new: str) -> None:
    before, after = "It is fast.\n", "\nNothing else changed."
    assert pieces_of(f"{before}{old}{after}", f"{before}{new}{after}") == [
        ("same", before),
        ("removed", f"{old}\n"),
        ("added", f"{new}\n"),
        ("same", after.removeprefix("\n")),
    ]


def test_sentences_are_compared_with_what_they_became() -> None:
    old = "Reads stay for a minute.\n\nWrites are logged.\n\nA lease ends after an hour.\n\nNobody waits."
    new = "Reads stay for an hour.\n\nAgents see refusals too.\n\nA lease ends after one day.\n\nAll wait."
    changed = [text for kind, text in pieces_of(old, new) if kind != "same"]
    assert changed == [
        *("a minute", "an hour", "Writes are logged.\n", "Agents see refusals too.\n"),
        *("an hour", "one day", "Nobody waits.", "All wait."),
    ]


def test_unchanged_lines_are_folded() -> None:
    changed = [*LINES[:150], "another line\n", *LINES[151:]]
    pieces = diff("".join(LINES), "".join(changed))
    assert [piece.kind for piece in pieces] == ["folded", "same", "removed", "added", "same", "folded"]
    assert (pieces[0].note, pieces[0].text) == ("148 unchanged lines", "".join(LINES[:148]))


def test_the_text_of_each_piece_is_escaped() -> None:
    lines = [f"<b>{number}</b>\n" for number in range(20)]
    html = marked(diff("".join(lines), "".join(["<i>", *lines[:-1], "</i>"])))
    assert not re.search(r"</?(b|i)>", html)
    assert "&lt;b&gt;9&lt;/b&gt;" in re.findall(r"(?s)<details.*?</details>", html)[0]


def test_changes_are_numbered_with_the_line_where_they_begin() -> None:
    changed = [*LINES[:100], "another line\n", *LINES[101:200], *LINES[203:]]
    changes = [part.change for part in parts_of(diff("".join(LINES), "".join(changed))) if part.change]
    assert [(each.number, each.line, each.previous, each.next) for each in changes] == [
        (1, 101, 0, 2),
        (2, 201, 1, 0),
    ]


def test_an_addition_to_the_longest_text_is_found_and_the_rest_only_counted() -> None:
    text = "a line of a pad that has many of them\n" * 25_000
    assert len(text) > FOLDED_CHARACTERS
    pieces = diff(text, f"{text}\nand this")
    assert [(piece.kind, piece.note or piece.text) for piece in pieces if piece.kind != "same"] == [
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
    assert [kind for kind, _ in pieces] == ["folded", "same", "removed", "added", "same", "folded"]
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
        ("." * 65_536, "!" * 65_536),
        (("a b " * 49 + "\n") * 600, ("b a " * 49 + "c\n") * 600),
        RANDOM,
    ],
)
def test_the_largest_texts_are_compared_quickly(old: str, new: str) -> None:
    with within_cpu_seconds(2):
        diff(old, new)


def test_a_long_text_with_a_change_in_each_sentence_is_compared_quickly() -> None:
    random = Random(7)
    words = [f"word{number}" for number in range(400)]
    sentences = [random.choices(words, k=14) for _ in range(1_000)]
    edited = [[*words[:5], "edited", *words[6:9], "twice", *words[10:]] for words in sentences]
    old, new = (". ".join(map(" ".join, text)) + "." for text in (sentences, edited))
    assert len(old) > 100_000
    with within_cpu_seconds(1):
        pieces = diff(old, new)
    assert sum(piece.text == "twice" for piece in pieces) == 1_000
