"""Counts the reads of snapshots."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import try_touch_transaction


def note_accesses(caller: Caller, ids: Sequence[int], at: datetime) -> None:
    """Count that these snapshots were read. Skipped if the database is busy."""
    if not ids:
        return
    which, values = sql.by_ids("memory_snapshot", caller.project_id, ids)
    moment = sql.stored_time(at)
    with try_touch_transaction() as is_open:
        if is_open:
            sql.execute(
                "UPDATE memory_snapshot SET access_count = access_count + 1, last_accessed = %s,"
                f" touched_at = %s WHERE {which}",
                [moment, moment, *values],
            )
