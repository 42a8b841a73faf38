"""What an agent holds now: a panel on its page, with buttons that release it."""

from typing import Any

from ctxhub.console.row_panels import AGENT, RowPanel
from ctxhub.console.urls import list_url
from ctxhub.core.kit import clock
from tracking.leases.release_button import release_button
from tracking.leases.silence import presence_of_holder, with_silence
from tracking.models import Lease

SHOWN = 10


def held_panel(kind: str, row: Any) -> RowPanel | None:
    """The live leases of an agent, soonest to expire first."""
    if kind != AGENT:
        return None
    live = Lease.objects.in_project(row.project_id).filter(
        agent=row.pk, released_at=None, expires_at__gt=clock.now()
    )
    leases = list(
        with_silence(live)
        .select_related("agent")
        .prefetch_related("paths")
        .order_by("expires_at", "pk")[:SHOWN]
    )
    shown = {
        "leases": [
            (lease, _paths(lease), release_button(lease), presence_of_holder(lease)) for lease in leases
        ],
        "all_url": list_url("tracking_lease", row.project, agent=row.name, state="live"),
    }
    return RowPanel("ctxhub/agent_leases.html", shown, place=10)


def _paths(lease: Lease) -> list[str]:
    return sorted(path.pattern for path in lease.paths.all())
