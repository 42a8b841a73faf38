"""How many snapshots are in each tier."""

from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from memory.snapshots.models.snapshot import Tier
from memory.snapshots.sql.tiers import count_tiers


class Tiers(TypedDict):
    active: int
    recent: int
    archived: int
    expired: int
    total: int


def get_tiers(project_id: int) -> Tiers:
    counts = count_tiers(project_id, clock.now())
    return Tiers(
        active=counts[Tier.ACTIVE],
        recent=counts[Tier.RECENT],
        archived=counts[Tier.ARCHIVED],
        expired=counts[Tier.EXPIRED],
        total=sum(counts.values()),
    )
