"""Brings the stored tiers of snapshots up to date. Reads derive the tier; the copy is for filters."""

from datetime import datetime

from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from memory.snapshots.sql.tiers import update_tiers

UPDATED_AT_ONCE = 2_000


class RetierAnswer(TypedDict):
    updated: int


def retier(*, caller: Caller) -> RetierAnswer:
    """Correct all stored tiers of the project, in transactions of 2,000 rows."""
    now, updated = clock.now(), 0
    while count := _retier_batch(caller.project_id, now):
        updated += count
    return RetierAnswer(updated=updated)


def retier_some(project_id: int, now: datetime) -> None:
    """Correct at most 2,000 stored tiers. A cleanup task, which runs inside the project's transaction."""
    update_tiers(project_id, now, UPDATED_AT_ONCE)


def _retier_batch(project_id: int, now: datetime) -> int:
    with write_transaction(project_id):
        return update_tiers(project_id, now, UPDATED_AT_ONCE)
