"""The score of a snapshot, its reasons, and when it is expected to be read again."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.predictions.predictions import (
    Parts,
    Prediction,
    Reads,
    causal_part,
    frequency_part,
    predict,
    score_of,
    temporal_part,
)
from memory.snapshots.models import ActionType

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def reads(
    hours_ago: float | None = None,
    count: int = 0,
    *,
    age_hours: float = 0,
    cause: bool = False,
    rests: bool = False,
    n: int = 0,
    action: int = ActionType.CONVERSATION,
) -> Reads:
    """`hours_ago`: the last read, None if there was none; `n`: dependents; `rests`: has dependencies."""
    last = None if hours_ago is None else NOW - timedelta(hours=hours_ago)
    return Reads(
        created_at=NOW - timedelta(hours=max(age_hours, hours_ago or 0)),
        last_accessed=last,
        access_count=count,
        action_type=action,
        has_cause=cause,
        has_dependencies=rests,
        dependents=n,
    )


def prediction(*what: float | None, **more: int | float | bool) -> Prediction:
    return predict(reads(*what, **more), NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("case", "score"),
    [
        (reads(0, 1, cause=True), 0.5051),
        (reads(0, 10, cause=True), 0.6159),
        (reads(0, 1, n=5), 0.7451),
        (reads(24, 10, n=3), 0.5430),
        (reads(n=5), 0.42),
        (reads(), 0.12),
        (reads(1, 3, n=1), 0.6538),
        (reads(200, 2, cause=True, n=1), 0.1915),
        (reads(0, 100, n=5), 1.0),
    ],
)
def test_the_golden_scores(case: Reads, score: float) -> None:
    assert round(predict(case, NOW).score, 4) == score


@pytest.mark.parametrize(
    ("age_hours", "value"), [(0, 0.3), (1, 0.2), (23, 0.2), (24, 0.1), (719, 0.1), (720, 0.0)]
)
def test_the_temporal_part_of_what_was_never_read_follows_its_tier(age_hours: float, value: float) -> None:
    assert temporal_part(reads(age_hours=age_hours), NOW) == value


@pytest.mark.parametrize(
    ("case", "value"),
    [
        (reads(n=1), 0.6),
        (reads(n=5), 1.0),
        (reads(n=50), 1.0),
        (reads(cause=True, n=1), 0.4),
        (reads(cause=True, n=9), 0.7),
        (reads(rests=True, n=1), 0.6),
        (reads(cause=True), 0.2),
        (reads(rests=True), 0.2),
        (reads(), 0.0),
    ],
)
def test_the_causal_part_counts_what_rests_on_a_snapshot(case: Reads, value: float) -> None:
    assert causal_part(case) == value


def test_a_hundred_reads_are_the_most_that_count() -> None:
    assert [frequency_part(reads(0, count)) for count in (0, 100, 5_000)] == [0.0, 1.0, 1.0]


def test_a_score_is_at_most_one() -> None:
    assert score_of(Parts(1, 1, 1), Parts(0.6, 0.6, 0.6)) == 1.0


def test_a_last_read_in_the_future_counts_as_now() -> None:
    assert prediction(-5, 1, cause=True).score == prediction(0, 1, cause=True).score


def test_what_was_never_read_is_expected_at_no_time() -> None:
    assert prediction(n=5).next is None


def test_after_one_read_the_next_is_expected_a_day_later() -> None:
    assert prediction(2, 1).next == NOW + timedelta(hours=22)


def test_after_more_reads_their_average_distance_counts() -> None:
    assert prediction(2, 4, age_hours=42).next == NOW + timedelta(hours=8)


def test_the_next_read_is_never_expected_in_the_past() -> None:
    assert [prediction(100, 1).next, prediction(100, 50, age_hours=110).next] == [NOW, NOW]


def test_the_next_read_is_expected_within_a_week() -> None:
    assert prediction(0, 2, age_hours=10_000).next == NOW + timedelta(days=7)


@pytest.mark.parametrize(
    ("case", "reasons"),
    [
        (
            reads(0, 10, n=5, action=ActionType.DECISION),
            [
                "high_composite_score",
                "recently_accessed",
                "high_access_frequency",
                "causal_chain_root",
                "active_memory_tier",
                "decision_node",
            ],
        ),
        (
            reads(1, 3, cause=True, n=1),
            ["accessed_today", "moderate_access_frequency", "causal_chain_member"],
        ),
        (reads(24, 2, cause=True), ["baseline_prediction"]),
        (reads(0.99, 9), ["recently_accessed", "moderate_access_frequency", "active_memory_tier"]),
        (reads(23.9, 1), ["accessed_today"]),
        (reads(), ["active_memory_tier"]),
        (reads(age_hours=1), ["baseline_prediction"]),
        (reads(age_hours=99, action=ActionType.DECISION), ["decision_node"]),
        (reads(age_hours=99, cause=True, n=2), ["causal_chain_root"]),
    ],
)
def test_the_reasons_stand_in_a_fixed_order(case: Reads, reasons: list[str]) -> None:
    assert predict(case, NOW).reasons == reasons
