"""The log: every change of a noun leaves exactly one event, in the transaction of the change."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.dispatch import Signal

from ctxhub.core.kit import sql

# Sent once for all changes that a transaction records, after they are written: project_id, nouns, at.
recorded = Signal()

CHANNEL = "ctxhub_events"


@dataclass(frozen=True, slots=True)
class Change:
    """What happened: `verb` (past tense) to `ref`; `data` holds what a reader of the log would ask next.

    `at` is for one of many changes that has a moment of its own.
    """

    noun: str
    verb: str
    ref: str
    data: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None


def record(*, project_id: int, agent_id: int | None, changes: Sequence[Change], at: datetime) -> None:
    """Write the events of a transaction, as its last statement, all at once."""
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
        _tell_listeners(project_id),
    )
    recorded.send(None, project_id=project_id, nouns={change.noun for change in changes}, at=at)


def _tell_listeners(project_id: int) -> str:
    """PostgreSQL tells with the commit who listens, in any process; on SQLite they look themselves."""
    return f"RETURNING pg_notify('{CHANNEL}', '{project_id:d}')" if connection.vendor == "postgresql" else ""
