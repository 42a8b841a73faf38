"""Writes the rows into a project, through the services and as a team of eight over sixty days."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.tasks.rows import Noun, TaskRow

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
CLOCK = "ctxhub.core.kit.clock.now"
AGENT = "nova"
TEAM = ("ada", "ben", "cleo", "dmitri", "emi", "finn", "greta", "hugo")
SEED = 5
AGE = timedelta(days=60)
# Other rows expire: no reader finds older ones.
AGES = {
    Noun.MESSAGE: timedelta(days=6, hours=23),
    Noun.CHANGE: timedelta(hours=40),
    Noun.LEASE: timedelta(hours=8),
    Noun.SESSION: timedelta(days=10),
}
# The share of messages that the agent has not read: of urgent ones hardly any, else they fill each answer.
UNREAD, UNREAD_URGENT, UNREAD_RIGHT = 0.12, 0.02, 0.85
BATCH = 100

Moments = Sequence[tuple[datetime, TaskRow]]


def write_team(caller: "Caller", rows: Sequence[TaskRow], right: Collection[str]) -> dict[str, str]:
    """Write the rows; return the ref of each by its id. The caller speaks as AGENT.

    `right`: the ids that tasks name. The agent has read some messages; it saved the session that tasks name.
    """
    from ctxhub.core.accounts.agents import touch_agent
    from ctxhub.core.accounts.config import set_config
    from ctxhub.core.kit.transactions import write_transaction
    from messaging.messages.services import read_messages_of

    moments = moments_of(rows)
    writer = RowWriter(caller, right)
    with patch(CLOCK, return_value=NOW - AGES[Noun.MESSAGE]):
        set_config(caller=caller, values={"message_hours": 168, "change_days": 30})
        touch_agent(caller)
    for first in range(0, len(moments), BATCH):
        with write_transaction(caller.project_id):
            for moment, row in moments[first : first + BATCH]:
                with patch(CLOCK, return_value=moment):
                    writer.write(row)
    with patch(CLOCK, return_value=NOW - timedelta(minutes=1)):
        for first in range(0, len(writer.read), BATCH):
            read_messages_of(caller=caller, ids=writer.read[first : first + BATCH])
    return writer.refs


def moments_of(rows: Sequence[TaskRow]) -> list[tuple[datetime, TaskRow]]:
    """When each row is written, oldest first; rows of one age group keep their order."""
    random = Random(SEED)
    groups: dict[timedelta, list[TaskRow]] = {}
    for row in rows:
        groups.setdefault(AGES.get(row.noun, AGE), []).append(row)
    moments: list[tuple[datetime, TaskRow]] = []
    for age, members in groups.items():
        moments += zip(_spread(random, age, len(members)), members, strict=True)
    return sorted(moments, key=lambda moment: (moment[0], moment[1].id))


def _spread(random: Random, age: timedelta, count: int) -> list[datetime]:
    """Moments of the past, oldest first, none in the last five minutes."""
    latest = NOW - timedelta(minutes=5)
    return sorted(latest - random.random() * (age - timedelta(minutes=10)) for _ in range(count))


class RowWriter:
    """`refs`: the ref of each written row by its id; `read`: the ids of messages that the agent has read."""

    def __init__(self, caller: "Caller", right: Collection[str]) -> None:
        self._caller = caller
        self._right = right
        self._random = Random(SEED)
        self._contexts: set[str] = set()
        self.refs: dict[str, str] = {}
        self.read: list[int] = []

    def write(self, row: TaskRow) -> None:
        author = replace(self._caller, agent=self._random.choice(TEAM))
        match row.noun:
            case Noun.DECISION:
                ref = self._set_decision(author, row)
            case Noun.CONSTRAINT:
                ref = self._add_constraint(author, row)
            case Noun.MESSAGE:
                ref = self._send_message(author, row)
            case Noun.CHANGE:
                ref = self._record_change(author, row)
            case Noun.LEASE:
                ref = self._acquire_lease(author, row)
            case Noun.MEMORY:
                ref = self._add_memory(author, row)
            case Noun.SNAPSHOT:
                ref = self._save_snapshot(author, row)
            case Noun.SESSION:
                ref = self._save_session(self._caller if row.id in self._right else author, row)
        self.refs[row.id] = ref

    def _set_decision(self, author: "Caller", row: TaskRow) -> str:
        from memory.decisions.services import set_decision

        given = _given(row, "rationale", "layer", "tags", "scopes", "paths")
        set_decision(caller=author, key=row.title, value=row.text, **given)
        return f"decision:{row.title}"

    def _add_constraint(self, author: "Caller", row: TaskRow) -> str:
        from memory.constraints.services import add_constraint

        given = _given(row, "priority", "layer", "tags", "scopes", "paths")
        answer = add_constraint(caller=author, category=row.title, text=row.text, **given)
        return f"constraint:{answer['id']}"

    def _send_message(self, author: "Caller", row: TaskRow) -> str:
        from messaging.messages.services import send_message

        answer = send_message(caller=author, text=row.text, **_given(row, "type", "priority"))
        if self._random.random() >= self._unread_share(row):
            self.read.append(answer["id"])
        return f"message:{answer['id']}"

    def _unread_share(self, row: TaskRow) -> float:
        if row.id in self._right:
            return UNREAD_RIGHT
        return UNREAD_URGENT if row.priority == "high" else UNREAD

    def _record_change(self, author: "Caller", row: TaskRow) -> str:
        from tracking.changes.services import record_change

        answer = record_change(caller=author, path=row.title, change="modified", description=row.text)
        return f"change:{answer['id']}"

    def _acquire_lease(self, author: "Caller", row: TaskRow) -> str:
        from tracking.leases.services import acquire_lease

        answer = acquire_lease(caller=author, paths=[row.title], minutes=1_440, reason=row.text)
        return f"lease:{answer['lease_id']}"

    def _add_memory(self, author: "Caller", row: TaskRow) -> str:
        from memory.contexts.services import create_context
        from memory.memories.services import add_memory

        if row.context not in self._contexts:
            create_context(caller=author, name=row.context)
            self._contexts.add(row.context)
        given = _given(row, "context", "tags", "paths")
        answer = add_memory(caller=author, title=row.title, content=row.text, **given)
        return f"memory:{answer['id']}"

    def _save_snapshot(self, author: "Caller", row: TaskRow) -> str:
        from memory.snapshots.services import save_snapshot

        answer = save_snapshot(
            caller=author,
            content=row.text,
            source="claude-code",
            summary=row.title,
            action_type=row.type,
            caused_by=self.refs[row.cause] if row.cause else None,
            dependencies=[],
            tags=list(row.tags),
        )
        return f"snapshot:{answer['id']}"

    def _save_session(self, author: "Caller", row: TaskRow) -> str:
        from sessions.sittings.services import save_session

        done, _, later = row.text.partition("next: ")
        answer = save_session(
            caller=author,
            session=row.id,
            workspace_id=row.title,
            summary=done,
            conversation=row.text,
            items=[{"category": "task", "content": step} for step in later.rstrip(".").split(", ")],
        )
        return f"session:{answer['session']}"


def _given(row: TaskRow, *names: str) -> dict[str, Any]:
    """The named fields that have a value, as arguments."""
    fields = {name: getattr(row, name) for name in names}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value
    }
