"""Brings the stored tiers of snapshots up to date. Reads derive the tier; the copy is for filters."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import ROWS_AT_ONCE, do_first, in_batches
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from memory.snapshots.sql.tiers import update_tiers


class RetierAnswer(TypedDict):
    updated: int


def retier(*, caller: Caller) -> RetierAnswer:
    """Correct all stored tiers of the project, in transactions of 500 rows."""
    retier_batch = partial(_retier_batch, caller.project_id, clock.now())
    done = in_batches(partial(do_first, f"{caller.project_id}:tiers", retier_batch))
    return RetierAnswer(updated=done["tiers"])


def retier_some(project_id: int, now: datetime) -> None:
    """Correct at most 500 stored tiers. A cleanup task, which runs inside the project's transaction."""
    update_tiers(project_id, now, ROWS_AT_ONCE)


def _retier_batch(project_id: int, now: datetime) -> Mapping[str, int]:
    with write_transaction(project_id):
        updated = update_tiers(project_id, now, ROWS_AT_ONCE)
    return {"tiers": updated} if updated else {}
