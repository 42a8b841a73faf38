"""Snapshots for tests: saved by a service, or written in bulk as an import does."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import now
from ctxhub.core.vocabulary.names import register_agent
from memory.models import Snapshot, SnapshotDependency
from memory.snapshots.services import save_snapshot


def save(caller: Caller, content: str = "We keep sessions in Redis.", **rest: Any) -> int:
    """Save a snapshot without dependencies; returns its id."""
    return save_snapshot(caller=caller, content=content, **{"source": "mcp", "dependencies": [], **rest})[
        "id"
    ]


def write(caller: Caller, count: int, **values: Any) -> list[int]:
    """Write snapshots, the oldest first, a second apart; returns their ids."""
    start = values.pop("at", now()) - timedelta(seconds=count)
    agent_id = register_agent(caller, now())
    times = [start + timedelta(seconds=n) for n in range(count)]
    made = Snapshot.unscoped.bulk_create(
        [_snapshot(caller, agent_id, f"s{n}", at, values) for n, at in enumerate(times)], batch_size=1_000
    )
    return [one.pk for one in made]


def link(effects: Sequence[int], causes: Sequence[int]) -> None:
    """Make each of the causes the cause of the effect beside it."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE memory_snapshot SET caused_by_id = %s WHERE id = %s",
            list(zip(causes, effects, strict=True)),
        )


def depend(caller: Caller, pairs: Iterable[tuple[int, int]]) -> None:
    """Make the first of each pair depend on the second."""
    SnapshotDependency.unscoped.bulk_create(
        [
            SnapshotDependency(project=caller.project, snapshot_id=one, dependency_id=other)
            for one, other in pairs
        ],
        batch_size=1_000,
    )


def write_chain(caller: Caller, count: int) -> list[int]:
    """Snapshots of which each causes the next one."""
    ids = write(caller, count)
    link(ids[1:], ids[:-1])
    return ids


def _snapshot(caller: Caller, agent_id: int, name: str, at: datetime, values: dict[str, Any]) -> Snapshot:
    times = {"created_at": at, "updated_at": at, "touched_at": values.get("last_accessed") or at}
    return Snapshot(
        **{
            "project": caller.project,
            "agent_id": agent_id,
            "summary": name,
            "content": name,
            **times,
            **values,
        }
    )
