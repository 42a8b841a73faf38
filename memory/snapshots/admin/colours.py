"""Colours of tiers."""

from memory.snapshots.models.snapshot import Tier

TIER_COLOURS = {
    str(Tier.ACTIVE.label): "success",
    str(Tier.RECENT.label): "info",
    str(Tier.ARCHIVED.label): "warning",
    str(Tier.EXPIRED.label): "danger",
}
