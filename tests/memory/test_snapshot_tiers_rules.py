"""The tier of a snapshot follows from its last access."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.snapshots.models import Tier
from memory.snapshots.tiers import tier_of, tier_range

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("hours", "warmer", "colder"),
    [(1, Tier.ACTIVE, Tier.RECENT), (24, Tier.RECENT, Tier.ARCHIVED), (720, Tier.ARCHIVED, Tier.EXPIRED)],
)
def test_a_snapshot_exactly_on_a_limit_has_the_colder_tier(hours: int, warmer: Tier, colder: Tier) -> None:
    limit = NOW - timedelta(hours=hours)
    assert [tier_of(limit + SECOND, NOW), tier_of(limit, NOW)] == [warmer, colder]


def test_a_snapshot_of_the_future_is_active() -> None:
    assert tier_of(NOW + timedelta(days=1), NOW) == Tier.ACTIVE


@pytest.mark.parametrize("hours", [0, 0.5, 1, 23, 24, 719, 720, 10_000])
def test_the_range_of_a_tier_holds_exactly_its_snapshots(hours: float) -> None:
    touched_at = NOW - timedelta(hours=hours)
    holding = []
    for tier in Tier:
        after, until = tier_range(tier, NOW)
        if (after is None or touched_at > after) and (until is None or touched_at <= until):
            holding.append(tier)
    assert holding == [tier_of(touched_at, NOW)]
