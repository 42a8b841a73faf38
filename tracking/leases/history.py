"""Records changes of leases in the event log."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from django.dispatch import Signal

from ctxhub.core.events import log
from ctxhub.core.history import NONE, Change, History
from tracking.leases.rows import LEASES, LeaseRow

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
    written = [_event(lease, verb, reason) for lease in leases]
    log.record(project_id=project_id, agent_id=agent_id, changes=written, at=at)


class LeaseHistory(History[LeaseRow]):
    """Services record leases by `record_leases`: changed rows are from the ORM."""

    kind = "lease"
    table = LEASES
    compared = ("expires_at", "released_at")
    is_counted = False
    is_indexed = False
    is_binned = False

    def compare(self, row: LeaseRow) -> dict[str, Any]:
        return {"expires_at": row.expires_at, "released_at": row.released_at is not None}

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[LeaseRow]], at: datetime
    ) -> Mapping[int, Any]:
        if leases := [change.row for change in changes if _verb_of(change) == "force_released"]:
            send = force_released.send
            send(None, project_id=project_id, agent_id=agent_id, leases=leases, reason="", at=at)
        return NONE

    def event(self, change: Change[LeaseRow], at: datetime) -> log.Change:
        return _event(change.row, _verb_of(change))

    def acting_agent(self, project_id: int, change: Change[LeaseRow], at: datetime) -> int | None:
        return super().acting_agent(project_id, change, at) or change.row.agent_id


HISTORY = LeaseHistory()


def _verb_of(change: Change[LeaseRow]) -> Verb:
    row = change.row
    if change.old is None:
        return "leased"
    if change.new is None:
        return "deleted"
    if "released_at" not in change.changed or not row.released_at:
        return "renewed"
    return "released" if row.released_by_id in (None, row.agent_id) else "force_released"


def _event(lease: LeaseRow, verb: Verb, reason: str = "") -> log.Change:
    return log.Change("lease", verb, f"lease:{lease.id}", _data(lease, verb, reason))


def _data(lease: LeaseRow, verb: Verb, reason: str) -> dict[str, object]:
    paths = ", ".join(lease.paths)
    note = f"{paths}: {lease.reason}" if verb == "leased" and lease.reason else paths
    holder = {}
    if verb == "force_released":
        note, holder = f"held by {lease.agent}: {paths}", {"holder": lease.agent}
    note = note[:200]
    if not reason:
        return {**holder, "paths": list(lease.paths), "note": note}
    return {**holder, "paths": list(lease.paths), "note": f"{note}; {reason[:100]}", "reason": reason}
