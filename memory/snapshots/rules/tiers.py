"""Tiers: how long ago a snapshot was last read or, if nobody read it, saved."""

from datetime import datetime, timedelta

from memory.snapshots.models.snapshot import Tier

# From this age on a snapshot is in a colder tier.
LIMITS = {
    Tier.ACTIVE: timedelta(hours=1),
    Tier.RECENT: timedelta(hours=24),
    Tier.ARCHIVED: timedelta(hours=720),
}


def tier_of(touched_at: datetime, now: datetime) -> Tier:
    """The tier of a snapshot that was last read, or saved, at this time."""
    age = now - touched_at
    return next((tier for tier, limit in LIMITS.items() if age < limit), Tier.EXPIRED)


def tier_range(tier: Tier, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The times `touched_at` of a tier: after the first, until and including the second; None: no limit."""
    after, until = LIMITS.get(tier), LIMITS.get(Tier(tier - 1)) if tier > Tier.ACTIVE else None
    return (now - after if after else None), (now - until if until else None)
