"""Records changes of leases in the event log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from ctxhub.core.events.services.events import Change, record
from tracking.sql.leases import LeaseRow

Verb = Literal["leased", "renewed", "released", "force_released", "deleted"]


def record_leases(
    *, project_id: int, agent_id: int | None, verb: Verb, leases: Sequence[LeaseRow], at: datetime
) -> None:
    """Write the events, as the last statement of the transaction; `force_released` also names the holder."""
    changes = [Change("lease", verb, f"lease:{lease.id}", _data(lease, verb)) for lease in leases]
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def _data(lease: LeaseRow, verb: Verb) -> dict[str, object]:
    paths = ", ".join(lease.paths)
    if verb == "force_released":
        return {"holder": lease.by, "paths": list(lease.paths), "note": f"held by {lease.by}: {paths}"[:200]}
    note = f"{paths}: {lease.reason}" if verb == "leased" and lease.reason else paths
    return {"paths": list(lease.paths), "note": note[:200]}
