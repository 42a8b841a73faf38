"""Counts file changes and leases for the first page."""

from collections.abc import Sequence

from ctxhub.console.dashboard import Amount, ListUrl, counting
from ctxhub.core.kit import clock
from tracking.changes.queries import RECENT
from tracking.models import FileChange, Lease


def file_amounts(project_ids: Sequence[int], list_url: ListUrl) -> list[Amount]:
    now = clock.now()
    changes = FileChange.unscoped.filter(project__in=project_ids, at__gt=now - RECENT)
    leases = Lease.unscoped.filter(project__in=project_ids, released_at=None, expires_at__gt=now)
    return [
        Amount("file changes", counting(changes), list_url("tracking_filechange"), "in the last hour"),
        Amount("live leases", counting(leases), list_url("tracking_lease", state="live")),
    ]
