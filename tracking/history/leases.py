"""Records changes of leases in the event log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from django.dispatch import Signal

from ctxhub.core.events.services.events import Change, record
from tracking.sql.leases import LeaseRow

Verb = Literal["leased", "renewed", "released", "force_released", "taken_over", "handed_over", "deleted"]

# Sent before the events are written. Arguments: project_id, agent_id (who released), leases, reason, at.
force_released = Signal()


def record_leases(
    *,
    project_id: int,
    agent_id: int | None,
    verb: Verb,
    leases: Sequence[LeaseRow],
    at: datetime,
    reason: str = "",
) -> None:
    """Write the events, as the last statement of the transaction; `force_released` also names the holder."""
    if verb == "force_released":
        force_released.send(
            None, project_id=project_id, agent_id=agent_id, leases=leases, reason=reason, at=at
        )
    changes = [Change("lease", verb, f"lease:{lease.id}", _data(lease, verb, reason)) for lease in leases]
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def _data(lease: LeaseRow, verb: Verb, reason: str) -> dict[str, object]:
    paths = ", ".join(lease.paths)
    note = f"{paths}: {lease.reason}" if verb == "leased" and lease.reason else paths
    holder = {}
    if verb == "force_released":
        note, holder = f"held by {lease.by}: {paths}", {"holder": lease.by}
    note = note[:200]
    if not reason:
        return {**holder, "paths": list(lease.paths), "note": note}
    return {**holder, "paths": list(lease.paths), "note": f"{note}; {reason[:100]}", "reason": reason}
