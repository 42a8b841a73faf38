"""Writes the event log: exactly one event for each change of a noun, in the transaction of the change."""

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from django.dispatch import Signal

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen

# Sent once for all changes of a `record` call, after they are written. Arguments: project_id, nouns, at.
recorded = Signal()

CHANNEL = "ctxhub_events"


@frozen
class Change:
    """An event to record: `verb` (past tense) happened to `ref`; `data` holds the details.

    `at` is set if one of several changes has a time of its own.
    """

    noun: str
    verb: str
    ref: str
    data: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None


def record(*, project_id: int, agent_id: int | None, changes: Sequence[Change], at: datetime) -> None:
    """Insert the events of a transaction in one statement, which must be its last."""
    if not changes:
        return
    moments = [sql.stored_time(change.at or at) for change in changes]
    sql.insert(
        "core_event",
        ("project_id", "noun", "verb", "ref", "agent_id", "at", "data"),
        [
            (project_id, c.noun, c.verb, c.ref, agent_id, moment, sql.stored_json(c.data))
            for c, moment in zip(changes, moments, strict=True)
        ],
        _notify(project_id),
    )
    recorded.send(None, project_id=project_id, nouns={change.noun for change in changes}, at=at)


def _notify(project_id: int) -> str:
    """SQL that notifies listeners in all processes on commit, on PostgreSQL; on SQLite they poll."""
    return "" if sql.is_sqlite() else f"RETURNING pg_notify('{CHANNEL}', '{project_id:d}')"
