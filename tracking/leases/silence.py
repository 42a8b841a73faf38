"""Whether the holder of a lease is silent: its session, or its agent where it has none."""

from datetime import datetime

from ctxhub.core.accounts.speakers import SILENT_AFTER, Heard
from tracking.leases.queries import is_silent
from tracking.models import Lease


def last_heard(lease: Lease, heard: Heard | None) -> datetime | None:
    """When the session of a lease was last heard of; without a session, when its agent was seen."""
    if heard is None or not lease.session:
        return lease.agent.last_seen_at
    return max(lease.created_at, heard.last(lease.session) or lease.created_at)


def is_lease_silent(lease: Lease, heard: Heard | None, now: datetime) -> bool:
    at = last_heard(lease, heard)
    if heard is None or not lease.session or lease.made_up:
        return is_silent(at, now)
    return at is None or at < now - SILENT_AFTER
