"""Digests of memories: the first sentence, or the title where there is only code."""

import pytest

from memory.memories.models import DIGEST_LENGTH
from memory.memories.rows import digest_of, tokens_of

LONG = "It is kept in Redis " * 5 + "for long"

GOLDEN: list[tuple[str, str]] = [
    ("Keep it in Redis. It is fast.", "Keep it in Redis."),
    ("Keep it in Redis", "Keep it in Redis"),
    ("Is it kept? Yes!", "Is it kept?"),
    ("Keep it\nin Redis.\nIt is fast.", "Keep it in Redis."),
    ("Keep it in Redis\n\nIt is fast.", "Keep it in Redis"),
    ("# Caching\nKeep it in Redis.", "Caching"),
    ("# The title\n\nKeep it in Redis.", "Keep it in Redis."),
    ("# the  title", "The title"),
    ("## Caching\n\nKeep it in Redis.", "Caching"),
    ("See v1.2.3 and api.py. Then more.", "See v1.2.3 and api.py."),
    (
        "Use a cache, e.g. Redis or, i.e. better, memcached. It is fast.",
        "Use a cache, e.g. Redis or, i.e. better, memcached.",
    ),
    ('He said "no." Then he left.', 'He said "no."'),
    ("```py\nx = 1\n```\nIt sets x. Then not.", "It sets x."),
    ("It sets x:\n```py\nx = 1. y\n```\nand y.", "It sets x:"),
    ("~~~\ncode. Code.\n~~~\nText. More.", "Text."),
    ("```\nnever closed. Code.", "The title"),
    ("```py\nx = 1\n```", "The title"),
    ("   \n\n ", "The title"),
    ("快取 效能 提升了系統。第二句。", "快取 效能 提升了系統。"),
    ("他說：「快！」然後走了。", "他說：「快！」"),
    (LONG, f"{LONG[:77].rstrip()}…"),
    (f"{'x' * 98}. More.", f"{'x' * 98}."),
    (f"{'x' * 99}. More.", f"{'x' * 77}…"),
    ("x" * 100, f"{'x' * 77}…"),
    ("." * 30_000 + "x", f"{'.' * 77}…"),
]


@pytest.mark.parametrize(("content", "digest"), GOLDEN)
def test_a_digest_is_the_first_sentence_outside_code(content: str, digest: str) -> None:
    assert digest_of("The title", content) == digest


def test_a_long_title_is_cut_when_it_is_the_digest() -> None:
    assert digest_of("t" * 500, "```\nx\n```") == f"{'t' * 77}…"


def test_no_character_is_cut_in_two() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert digest_of("t", "x" * 75 + family * 20) == f"{'x' * 75}…"


@pytest.mark.parametrize("content", ["a" * 5_000, "\n" * 5_000, "#" * 5_000, "`" * 5_000, "e.g. " * 5_000])
def test_a_digest_is_one_short_line_whatever_the_text(content: str) -> None:
    digest = digest_of("The title", content)
    assert 0 < len(digest) <= DIGEST_LENGTH
    assert "\n" not in digest


def test_tokens_count_title_and_content() -> None:
    title, content = "Caching", "Keep it in Redis."
    assert tokens_of(title, content) == tokens_of(title, "") + tokens_of("", content) > tokens_of("", content)
    assert tokens_of("", "") == 0
