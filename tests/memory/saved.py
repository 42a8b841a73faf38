"""Snapshots for tests, stored without the services."""

from datetime import UTC, datetime, timedelta
from typing import Any

from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project
from memory.snapshots.history import HISTORY
from memory.snapshots.models import Snapshot, SnapshotDependency
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def saved(
    project: Project,
    summary: str = "It was done.",
    *,
    age: float = 0,
    read: float | None = None,
    rests_on: list[int] | None = None,
    **values: Any,
) -> int:
    """The id of a new snapshot. `age`, `read`: how many hours before noon it was saved, and last read."""
    at = NOON - hours(age)
    last = None if read is None else NOON - hours(read)
    row = SnapshotRow(summary=summary, created_at=at, updated_at=at, last_accessed=last, **values)
    with write_transaction(project.pk):
        [stored] = SNAPSHOTS.insert(project.pk, [row])
        HISTORY.record(project_id=project.pk, agent_id=None, changes=[HISTORY.change(None, stored)], at=at)
    for dependency in rests_on or ():
        SnapshotDependency.unscoped.create(project=project, snapshot_id=stored.id, dependency_id=dependency)
    return stored.id


def stored(row_id: int) -> Snapshot:
    return Snapshot.unscoped.get(pk=row_id)


def living() -> set[int]:
    return {*Snapshot.unscoped.values_list("pk", flat=True)}
