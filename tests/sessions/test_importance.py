"""The importance of a file: the golden values of its formula, and its limits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracking.files.importance import ImportanceFacts, importance_of
from tracking.files.models import AccessKind, ResourceType

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
VIEWED = ImportanceFacts(
    last_accessed=NOW,
    access_count=1,
    best_access=AccessKind.VIEWED,
    is_modified=False,
    incoming_strength=0,
    type=ResourceType.CODE,
    mark=None,
)
NEVER = replace(VIEWED, last_accessed=None, access_count=0, best_access=None)


def hours_ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def edited_yesterday(**rest: Any) -> dict[str, Any]:
    return {
        "last_accessed": hours_ago(24),
        "access_count": 10,
        "best_access": AccessKind.EDITED,
        "incoming_strength": 3,
        **rest,
    }


def referenced() -> dict[str, Any]:
    return {
        "last_accessed": hours_ago(72),
        "best_access": AccessKind.REFERENCED,
        "type": ResourceType.DOCUMENTATION,
    }


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, 40),
        ({"best_access": AccessKind.EDITED, "is_modified": True}, 63),
        (edited_yesterday(), 44),
        (edited_yesterday(is_modified=True), 54),
        (referenced(), 12),
        ({"query_score": 1.0}, 50),
        ({"last_accessed": hours_ago(-5)}, 40),
    ],
)
def test_golden_values(facts: dict[str, Any], expected: int) -> None:
    assert importance_of(replace(VIEWED, **facts), NOW).total == expected


def test_the_parts_of_a_golden_value() -> None:
    parts = importance_of(replace(VIEWED, **edited_yesterday()), NOW).parts
    assert {name: round(part, 2) for name, part in parts.items()} == {
        "recency": 11.04,
        "frequency": 10.39,
        "access": 15.0,
        "dependencies": 3.0,
        "type": 5.0,
    }


@pytest.mark.parametrize(("kind", "expected"), list(zip(AccessKind, (2, 5, 8, 15), strict=True)))
def test_each_access_has_its_worth(kind: AccessKind, expected: float) -> None:
    assert importance_of(replace(VIEWED, best_access=kind), NOW).parts["access"] == expected


@pytest.mark.parametrize(("kind", "expected"), list(zip(ResourceType, (5, 3, 3, 3, 1), strict=True)))
def test_each_type_has_its_worth(kind: ResourceType, expected: int) -> None:
    assert importance_of(replace(NEVER, type=kind), NOW).total == expected


@pytest.mark.parametrize("mark", [0, 7, 100])
def test_a_mark_overrides_everything(mark: int) -> None:
    found = importance_of(replace(VIEWED, mark=mark, is_modified=True), NOW)
    assert (found.total, found.parts) == (mark, {"mark": mark})


def test_a_half_is_rounded_up() -> None:
    assert importance_of(replace(NEVER, query_score=0.75), NOW).total == 13


def test_frequency_and_dependencies_have_a_limit() -> None:
    many = importance_of(replace(VIEWED, access_count=10**9, incoming_strength=10**9), NOW)
    assert (many.parts["frequency"], many.parts["dependencies"]) == (20, 10)


@given(
    facts=st.builds(
        ImportanceFacts,
        last_accessed=st.none() | st.datetimes(timezones=st.just(UTC)),
        access_count=st.integers(0, 2**31),
        best_access=st.none() | st.sampled_from(AccessKind),
        is_modified=st.booleans(),
        incoming_strength=st.integers(0, 2**31),
        type=st.sampled_from(ResourceType),
        mark=st.none() | st.integers(0, 100),
        query_score=st.floats(0, 1),
    )
)
def test_importance_is_a_whole_number_from_0_to_100(facts: ImportanceFacts) -> None:
    assert 0 <= importance_of(facts, NOW).total <= 100
