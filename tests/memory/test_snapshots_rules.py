"""Summaries that are made of a content, and graphs drawn as Mermaid."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.snapshots.graph import DrawnNode, flowchart
from memory.snapshots.inputs import summary_of
from memory.snapshots.models import Tier
from memory.snapshots.tiers import tier_of, tier_range
from tests.timing import within_cpu_seconds

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SENTENCE = "It is kept in Redis for five minutes and then it is read again."

GOLDEN: list[tuple[str, str]] = [
    ("Keep it in Redis", "Keep it in Redis"),
    ("Keep it in Redis. It is fast.", "Keep it in Redis. It is fast."),
    ("Keep it\nin Redis.\n\nIt is fast.", "Keep it in Redis. It is fast."),
    ("# Caching\n\nKeep it in Redis.", "Caching Keep it in Redis."),
    ("## Caching\nKeep it in Redis.", "Caching Keep it in Redis."),
    ("Set x:\n```py\nx = 1. y\n```\nThen stop.", "Set x: Then stop."),
    ("~~~\ncode. Code.\n~~~\nText. More.", "Text. More."),
    ("```py\nx = 1\n```", "```py x = 1 ```"),
    (f"{SENTENCE} " * 5, f"{SENTENCE} {SENTENCE} {SENTENCE}"),
    ("word " * 60, f"{('word ' * 40).strip()}…"),
    ("x" * 300, f"{'x' * 160}…"),
    ("快取提升了系統的效能。第二句。", "快取提升了系統的效能。 第二句。"),
    ("快取" * 150, f"{'快取' * 99}快…"),
    ("\n" * 30_000 + "Text.", "Text."),
    ("Use a cache, e.g. Redis. It is fast.", "Use a cache, e.g. Redis. It is fast."),
]


@pytest.mark.parametrize(("content", "summary"), GOLDEN)
def test_a_summary_is_the_first_sentences_outside_code(content: str, summary: str) -> None:
    assert summary_of(content) == summary


@given(st.text(min_size=1).filter(str.strip))
def test_a_summary_is_one_line_of_at_most_200_characters(content: str) -> None:
    summary = summary_of(content)
    assert 0 < len(summary) <= 200
    assert len(summary.splitlines()) == 1


@pytest.mark.parametrize(
    "piece", ["a", "\n", "#", "`", "~", "e.g. ", ".", "` ", "~~~\n", "```\n", "! ", "\u3002"]
)
def test_a_summary_of_a_mebibyte_is_made_in_time(piece: str) -> None:
    text = f"x{piece * (1_048_576 // len(piece))}"
    with within_cpu_seconds(5):
        assert len(summary_of(text)) <= 200


# -- Tiers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hours", "before", "on"),
    [(1, Tier.ACTIVE, Tier.RECENT), (24, Tier.RECENT, Tier.ARCHIVED), (720, Tier.ARCHIVED, Tier.EXPIRED)],
)
def test_exactly_on_a_limit_a_snapshot_is_in_the_colder_tier(hours: int, before: Tier, on: Tier) -> None:
    limit = NOW - timedelta(hours=hours)
    assert tier_of(limit + timedelta(microseconds=1), NOW) == before
    assert tier_of(limit, NOW) == on
    assert tier_range(before, NOW)[0] == tier_range(on, NOW)[1] == limit


# -- Mermaid ---------------------------------------------------------------------------------------

NODE = re.compile(r'  s\d+\["[^"\[\](){}<>|`\\%&;#\n\r]*(?:#\d+;[^"\[\](){}<>|`\\%&;#\n\r]*)*"\]')
HOSTILE = [
    '"] --> x[owned',
    "`**markdown**`",
    "a\nb\r\nc\u2028d\x85e",
    "%% a comment",
    "%%{init: {'theme': 'dark'}}%%",
    "<script>alert(1)</script>",
    "#quot; #35; &quot;",
    "end",
    "]]))}}|/\\",
    "click s1 href javascript:alert(1)",
    "subgraph x\nend",
    "\x00\x1b[31m\u202e",
    "a;b;c --> d",
]


def test_a_flowchart_leads_from_causes_to_effects() -> None:
    nodes = [DrawnNode(2, "decision", "Use Redis"), DrawnNode(1, "research", "Compare")]
    assert flowchart(nodes, [(2, 1, "caused_by"), (2, 1, "depends_on")]) == (
        'flowchart TD\n  s2["2 decision: Use Redis"]\n  s1["1 research: Compare"]\n  s1 --> s2\n  s1 -.-> s2'
    )
    assert flowchart([], []) == "flowchart TD"


@pytest.mark.parametrize("summary", HOSTILE)
def test_no_summary_breaks_out_of_its_node(summary: str) -> None:
    first, *lines = flowchart([DrawnNode(1, "decision", summary)], []).split("\n")
    assert first == "flowchart TD"
    [line] = lines
    assert NODE.fullmatch(line), line


@given(st.text())
def test_no_text_whatever_breaks_out_of_its_node(summary: str) -> None:
    drawn = flowchart([DrawnNode(1, "decision", summary)], [])
    assert NODE.fullmatch(drawn.removeprefix("flowchart TD\n")), drawn
    assert len(drawn.splitlines()) == 2


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        ("decision_list: api/auth", "decision_list: api#47;auth"),
        ("at 10:30", "at 10:30"),
        ("_em_ a__b __init__", "#95;em#95; a#95;#95;b #95;#95;init#95;#95;"),
        ("A:::red fa:fa-ban fa:\x00fa-ban", "A#58;#58;#58;red fa#58;fa-ban fa#58;fa-ban"),
    ],
)
def test_a_label_escapes_only_what_mermaid_reads(summary: str, shown: str) -> None:
    assert flowchart([DrawnNode(1, "research", summary)], []).endswith(f'["1 research: {shown}"]')


def test_a_label_keeps_its_letters_in_any_script() -> None:
    [_, line] = flowchart([DrawnNode(1, "decision", "Zoë 快取, 3.5!")], []).split("\n")
    assert line == '  s1["1 decision: Zoë 快取, 3.5!"]'
