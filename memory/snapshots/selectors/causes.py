"""Reads what led to a snapshot, and what rests on it or followed from it."""

from typing import Annotated

from ctxhub.core.hub.selectors.links import ROWS, find_chain, find_impact
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.argument_types import one_of
from memory.snapshots.rules.causes import CAUSED_BY, DEPENDS_ON
from memory.snapshots.selectors.snapshots import unknown_snapshot
from memory.snapshots.sql.cause_links import KIND

LinkLabel = Annotated[str, one_of(CAUSED_BY, DEPENDS_ON)]


def list_chain(project_id: int, snapshot_id: int, *, limit: int = ROWS, cursor: str | None = None) -> Listing:
    """What led to a snapshot, up to its root, which comes first at depth 0; itself last."""
    if found := find_chain(project_id, (KIND, _storable(snapshot_id)), limit, cursor):
        return found
    raise unknown_snapshot(snapshot_id)


def list_impact(
    project_id: int, snapshot_id: int, *, limit: int = ROWS, cursor: str | None = None
) -> Listing:
    """What rests on a snapshot, directly or through others; the nearest first."""
    if found := find_impact(project_id, (KIND, _storable(snapshot_id)), limit, cursor):
        return found
    raise unknown_snapshot(snapshot_id)


def _storable(snapshot_id: int) -> int:
    """The id; 0, which no row has, for a number too large for the database."""
    return snapshot_id if 0 < snapshot_id < 2**63 else 0
