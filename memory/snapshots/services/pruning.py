"""Deletes expired snapshots that nothing rests on."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.services.index import forget
from ctxhub.core.text.plurals import counted
from ctxhub.core.toolbox.argument_types import Time
from ctxhub.core.vocabulary.services.names import register_agent
from memory.snapshots.models.snapshot import Snapshot
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow
from memory.snapshots.sql.pruning import count_needed, find_prunable

COLUMNS = ("id", "summary", "last_accessed")
PRUNED_AT_ONCE = 100
_READ = (*("id", "summary", "last_accessed", "created_at", "updated_at"),)


class PrunedSnapshot(TypedDict):
    id: int
    summary: str
    last_accessed: Time | None


@frozen
class Pruned:
    """The snapshots pruned, or that would be. `kept`: how many expired ones others rest on."""

    rows: Sequence[SnapshotRow]
    kept: int
    is_dry: bool = False

    def listing(self) -> Listing:
        rows = [
            [row.id, preview(row.summary), format_time(row.last_accessed) if row.last_accessed else None]
            for row in self.rows
        ]
        dry = {"dry_run": True, "would_prune": len(rows)} if self.is_dry else {}
        pruned = 0 if self.is_dry else len(rows)
        return Listing(COLUMNS, rows, extra={**dry, "pruned": pruned, "kept": self.kept})


def prune_snapshots(*, caller: Caller, limit: int = 100, dry_run: bool = True) -> Pruned:
    """Delete at most `limit` (1 to 200) expired snapshots that none names as cause or dependency.

    Those never read go first, then the ones read longest ago. `dry_run` only tells which; without it the
    caller must be an administrator.
    """
    limit = clean_limit(limit)
    if dry_run:
        now = clock.now()
        return Pruned(_find(caller.project_id, now, limit), count_needed(caller.project_id, now), is_dry=True)
    caller.require(ADMIN, "Pruning")
    with write_transaction(caller.project_id):
        now = clock.now()
        kept = count_needed(caller.project_id, now)
        rows = _find(caller.project_id, now, limit)
        if rows:
            _delete(caller.project_id, register_agent(caller, now), [row.id for row in rows], now)
    return Pruned(rows, kept)


def prune_some(project_id: int, now: datetime) -> dict[str, int]:
    """Prune at most 100 snapshots; returns how many. Called inside the project's transaction."""
    ids = find_prunable(project_id, now, PRUNED_AT_ONCE)
    if not ids:
        return {}
    _delete(project_id, None, ids, now)
    return {"snapshots": len(ids)}


def _find(project_id: int, now: datetime, limit: int) -> list[SnapshotRow]:
    return list(SNAPSHOTS.read(project_id, find_prunable(project_id, now, limit), _READ).values())


def _delete(project_id: int, agent_id: int | None, ids: Sequence[int], now: datetime) -> None:
    """Delete snapshots, and record one event that names them all."""
    forget(project_id, "snapshot", ids)
    delete_rows(Snapshot, ids)
    add_to_counters(project_id, Counter({counter_key("snapshot"): -len(ids)}))
    data = {"ids": list(ids), "note": counted(len(ids), "snapshots")}
    change = Change("snapshot", "pruned", f"snapshot:{ids[0]}", data)
    record(project_id=project_id, agent_id=agent_id, changes=[change], at=now)
