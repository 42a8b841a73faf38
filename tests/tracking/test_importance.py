"""The importance of a file: the values of the design, its parts and its bounds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tracking.files.importance import ImportanceFacts, importance_of
from tracking.models import AccessKind, ResourceType

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def facts(hours_ago: float | None = 0, **changes: Any) -> ImportanceFacts:
    known: dict[str, Any] = {
        "last_accessed": None if hours_ago is None else NOW - timedelta(hours=hours_ago),
        "access_count": 1,
        "best_access": AccessKind.VIEWED.value,
        "is_modified": False,
        "incoming_strength": 0,
        "type": ResourceType.CODE.value,
        "mark": None,
    }
    return ImportanceFacts(**{**known, **changes})


EDITED, REFERENCED = AccessKind.EDITED.value, AccessKind.REFERENCED.value
OFTEN = {"best_access": EDITED, "access_count": 10, "incoming_strength": 3}


@pytest.mark.parametrize(
    ("known", "total"),
    [
        (facts(), 40),
        (facts(best_access=EDITED, is_modified=True), 63),
        (facts(24, **OFTEN), 44),
        (facts(24, **OFTEN, is_modified=True), 54),
        (facts(72, best_access=REFERENCED, type=ResourceType.DOCUMENTATION.value), 12),
        (facts(None, access_count=0, best_access=None, type=ResourceType.GENERATED.value), 1),
        (facts(best_access=EDITED, is_modified=True, access_count=100, incoming_strength=10), 90),
        (facts(**OFTEN, is_modified=True, query_score=1.0), 83),
    ],
)
def test_the_values_of_the_design(known: ImportanceFacts, total: int) -> None:
    assert importance_of(known, NOW).total == total


def test_its_parts_are_answered_and_make_the_sum() -> None:
    found = importance_of(facts(24, **OFTEN), NOW)
    assert {name: round(points, 2) for name, points in found.parts.items() if points} == {
        "recency": 11.04,
        "frequency": 10.39,
        "access": 15,
        "dependencies": 3,
        "type": 5,
    }
    assert round(sum(found.parts.values())) == found.total


@pytest.mark.parametrize("mark", [0, 7, 100])
def test_a_mark_overrides(mark: int) -> None:
    found = importance_of(facts(mark=mark), NOW)
    assert (found.total, found.parts) == (mark, {"mark": mark})


def test_it_never_exceeds_100_and_counts_no_future() -> None:
    most = facts(
        -5, best_access=EDITED, is_modified=True, access_count=10**6, incoming_strength=10**6, query_score=1.0
    )
    assert importance_of(most, NOW).total == 100
