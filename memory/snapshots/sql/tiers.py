"""Counts the tiers of snapshots, and brings the stored copies up to date."""

from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition
from memory.snapshots.models.snapshot import Tier
from memory.snapshots.rules.tiers import LIMITS, tier_range


def count_tiers(project_id: int, now: datetime) -> dict[Tier, int]:
    """The number of snapshots in each tier, by one range of an index each."""
    counted, values = [], []
    for tier in Tier:
        where, limits = _in_range(tier_range(tier, now))
        counted.append(f"(SELECT count(*) FROM memory_snapshot WHERE project_id = %s{where})")
        values += [project_id, *limits]
    [counts] = sql.rows(f"SELECT {', '.join(counted)}", values)
    return dict(zip(Tier, counts, strict=True))


def _in_range(limits: tuple[datetime | None, datetime | None]) -> Condition:
    """A further condition: `touched_at` is after the first time, and not after the second."""
    known = [(sign, limit) for sign, limit in zip((">", "<="), limits, strict=True) if limit]
    return (
        "".join(f" AND touched_at {sign} %s" for sign, _ in known),
        [sql.stored_time(limit) for _, limit in known],
    )


def update_tiers(project_id: int, now: datetime, at_most: int) -> int:
    """Correct the stored tiers of at most so many snapshots; returns of how many."""
    branches = [branch for tier in Tier for branch in _untrue(project_id, tier, now)]
    found = " UNION ALL ".join(f"SELECT id FROM ({text}) branch" for text, _ in branches)
    where = sql.among_found("id", f"SELECT id FROM ({found}) untrue LIMIT %s")
    limits = [(sql.stored_time(now - limit), tier.value) for tier, limit in LIMITS.items()]
    values: list[Any] = [value for pair in limits for value in pair]
    values += [value for _, some in branches for value in some]
    updated = sql.rows(
        f"""
        UPDATE memory_snapshot SET tier = CASE {"WHEN touched_at > %s THEN %s " * len(limits)} ELSE
        {Tier.EXPIRED.value} END WHERE {where} RETURNING id""",
        [*values, at_most],
    )
    return len(updated)


def _untrue(project_id: int, tier: Tier, now: datetime) -> list[Condition]:
    """Queries for the rows stored with this tier that are colder, and for those that are warmer."""
    after, until = tier_range(tier, now)
    wrong = (("<=", after), (">", until))
    query = "SELECT id FROM memory_snapshot WHERE project_id = %s AND tier = %s AND touched_at"
    return [
        (f"{query} {sign} %s", [project_id, tier.value, sql.stored_time(limit)])
        for sign, limit in wrong
        if limit
    ]
