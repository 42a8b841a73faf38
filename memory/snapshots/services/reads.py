"""Reads snapshots for a caller, and notes that they were read."""

from collections.abc import Sequence
from functools import partial

from ctxhub.core.given import GivenItem, give
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import Listing
from memory.snapshots.rows import SnapshotRow
from memory.snapshots.selectors.snapshots import REASONS, get_snapshot, reasons_item
from memory.snapshots.selectors.views import listing, load
from memory.snapshots.services.accesses import note_accesses


def load_snapshots(*, caller: Caller, view: str = "historian", limit: int = 1) -> Listing:
    """The snapshots that a view shows first; an auditor's by agent."""
    rows = load(caller.project_id, view, limit)
    answer = listing(caller.project_id, rows, view.strip().lower())
    note_accesses(caller, [row.id for row in rows], clock.now())
    give(caller, "load", [GivenItem("snapshot", str(row.id)) for row in rows], answer)
    return answer


def read_snapshot(*, caller: Caller, snapshot_id: int) -> SnapshotRow:
    """One snapshot, as it was before this access."""
    return _noted(caller, get_snapshot(caller.project_id, snapshot_id))


def read_reasons(*, caller: Caller, snapshot_id: int) -> SnapshotRow:
    """One snapshot without its content."""
    row = get_snapshot(caller.project_id, snapshot_id, REASONS)
    give(caller, "why", [GivenItem("snapshot", str(row.id))], partial(reasons_item, caller.project_id, row))
    return _noted(caller, row)


def note_opened(caller: Caller, names: Sequence[str]) -> None:
    """Count that the snapshots of these refs were opened."""
    note_accesses(caller, [row_id for name in names if (row_id := read_id(name))], clock.now())


def _noted(caller: Caller, row: SnapshotRow) -> SnapshotRow:
    note_accesses(caller, [row.id], clock.now())
    return row
