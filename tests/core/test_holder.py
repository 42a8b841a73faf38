"""When two holders are the same: by parts of their sessions' names, and never between agents."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.holder import PART, Holder

WINDOW = st.sampled_from(["claude-1a2b", "claude-1a2", "codex-7", "#5"])
SESSIONS = st.lists(st.sampled_from(["reviewer", "reviewer-7", "1"]), max_size=2).flatmap(
    lambda parts: WINDOW.map(lambda window: PART.join([window, *parts]))
)
HOLDERS = st.builds(
    Holder, st.sampled_from(["ada", "ben"]), st.one_of(st.just(""), SESSIONS), st.booleans()
).map(lambda holder: holder if holder.session else replace(holder, made_up=False))


@given(HOLDERS, HOLDERS)
def test_sameness_is_symmetric(one: Holder, other: Holder) -> None:
    assert one.is_same(other) == other.is_same(one)


@given(HOLDERS)
def test_a_holder_is_the_same_as_itself(one: Holder) -> None:
    assert one.is_same(one)
    assert one.includes(one)


@given(HOLDERS, HOLDERS)
def test_other_agents_are_others(one: Holder, other: Holder) -> None:
    if one.agent != other.agent:
        assert not one.is_same(other)
        assert not one.includes(other)


@given(HOLDERS, HOLDERS)
def test_two_named_sessions_are_the_same_where_one_is_within_the_other(one: Holder, other: Holder) -> None:
    if one.agent == other.agent and one.is_named and other.is_named:
        ours, theirs = one.session.split(PART), other.session.split(PART)
        shorter = min(len(ours), len(theirs))
        assert one.is_same(other) == (ours[:shorter] == theirs[:shorter])


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (Holder("ada", "claude-1a2b"), Holder("ada", "claude-1a2b/reviewer-7"), True),
        (Holder("ada", "claude-1a2b/reviewer-7"), Holder("ada", "claude-1a2b/reviewer-8"), False),
        (Holder("ada", "claude-1a2"), Holder("ada", "claude-1a2b"), False),
        (Holder("ada", "claude-1a2b"), Holder("ada"), True),
        (Holder("ada", "claude-1a2b"), Holder("ada", "stdio-9f", made_up=True), True),
        (Holder("ada"), Holder("ben"), False),
    ],
)
def test_examples(one: Holder, other: Holder, is_same: bool) -> None:
    assert one.is_same(other) is is_same


@given(HOLDERS, HOLDERS)
def test_what_a_holder_includes_is_the_same(one: Holder, other: Holder) -> None:
    if one.includes(other):
        assert one.is_same(other)
