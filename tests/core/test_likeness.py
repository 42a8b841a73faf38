"""Which names are suggested for which: pairs that are slips, and pairs that are other words."""

import pytest

from ctxhub.core.kit.likeness import few_of, nearest
from ctxhub.toolbox.spelling import meant_by_slip

SLIPS = [
    ("sett", "set"),
    ("lst", "list"),
    ("lisst", "list"),
    ("sned", "send"),
    ("esnd", "send"),
    ("serach", "search"),
    ("seach", "search"),
    ("tgas", "tags"),
    ("pths", "paths"),
    ("scpoe", "scope"),
    ("layr", "layer"),
    ("limt", "limit"),
    ("cursr", "cursor"),
    ("reasom", "reason"),
    ("conten", "content"),
    ("contnet", "content"),
    ("rationle", "rationale"),
    ("ratoinale", "rationale"),
    ("tradeofs", "tradeoffs"),
    ("metdata", "metadata"),
    ("catagory", "category"),
    ("prioritty", "priority"),
    ("dependancies", "dependencies"),
    ("superceeded_by", "superseded_by"),
    ("expected_verison", "expected_version"),
    ("alternatves", "alternatives"),
    ("scracthpad_id", "scratchpad_id"),
    ("deprecat", "deprecate"),
    ("Include-Tag", "include_tags"),
    ("worktre", "worktree"),
    ("infrastrcture", "infrastructure"),
    ("busines", "business"),
]
OTHERS = [
    ("nope", "scope"),
    ("score", "scope"),
    ("note", "name"),
    ("date", "data"),
    ("unread", "read"),
    ("select", "set"),
    ("get", "set"),
    ("include_tags", "exclude_tags"),
    ("verbose", "verbs"),
    ("config_get", "config_set"),
    ("context_get", "context_set"),
    ("state", "status"),
    ("task", "tags"),
    ("mode", "node"),
    ("line", "list"),
    ("sort", "sync"),
    ("ask", "ack"),
    ("why", "who"),
    ("id", "by"),
    ("all", "ack"),
    ("color", "cursor"),
    ("label", "layer"),
    ("title", "tier"),
    ("start", "stats"),
    ("restart", "restore"),
    ("creator", "created"),
    ("session", "version"),
    ("target", "tag"),
    ("pages", "paths"),
    ("phase_1", "phase_2"),
    ("v1", "v2"),
    ("zone", "none"),
    ("reset", "revert"),
    ("format", "from"),
]


@pytest.mark.parametrize(("said", "meant"), SLIPS)
def test_a_slip_is_suggested(said: str, meant: str) -> None:
    assert meant_by_slip(said, [meant]) == meant
    assert nearest(said, ["zzzzz", meant]) == meant


@pytest.mark.parametrize(("said", "other"), OTHERS)
def test_another_word_is_not_suggested(said: str, other: str) -> None:
    assert meant_by_slip(said, [other]) is None
    assert nearest(said, [other]) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("infra", "infrastructure"),
        ("cutting", "cross-cutting"),
        ("data layer", "data"),
        ("cached", "cache"),
        ("testing", "test"),
    ],
)
def test_a_form_of_a_word_is_suggested_for_a_value(said: str, meant: str) -> None:
    assert nearest(said, ["zzzzz", meant]) == meant


def test_a_beginning_of_two_words_means_none() -> None:
    assert nearest("auth", ["authentication", "authorization"]) is None
    assert nearest("auth", ["authentication", "caching"]) == "authentication"


def test_the_nearer_of_two_slips_is_suggested() -> None:
    assert nearest("dependencys", ["dependences", "dependencies"]) in ("dependences", "dependencies")
    assert nearest("constrant_id", ["constraint", "constraint_id"]) == "constraint_id"


@pytest.mark.parametrize("word", ["", " ", "\x00", "x" * 100_000, "日本", "/", "--"])
def test_any_text_can_be_compared(word: str) -> None:
    assert nearest(word, ["set", "list", ""]) is None
    assert len(few_of(word, ["set", "list"])) <= 2
