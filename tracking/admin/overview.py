"""Dashboard cards for file changes and leases."""

from collections.abc import Sequence

from ctxhub.core.admin import dashboard
from ctxhub.core.admin.dashboard import Card, ListUrl
from ctxhub.core.kit import clock
from tracking.models import FileChange, Lease
from tracking.selectors.changes import RECENT


def file_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    now = clock.now()
    changes = FileChange.unscoped.filter(project__in=project_ids, at__gt=now - RECENT).count()
    leases = Lease.unscoped.filter(project__in=project_ids, released_at=None, expires_at__gt=now).count()
    return [
        Card("File changes in the last hour", changes, "edit_document", list_url("tracking_filechange")),
        Card("Live leases", leases, "lock_clock", list_url("tracking_lease", state="live")),
    ]


dashboard.cards.append(file_cards)
