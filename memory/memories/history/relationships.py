"""Records the events of relationships."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from ctxhub.core.events.services.events import Change, record
from memory.memories.models.relationship import Relation

Verb = Literal["created", "updated", "deleted"]


def record_relationships(
    *, project_id: int, agent_id: int | None, changes: Sequence[Change], at: datetime
) -> None:
    """Record events; call it last in the transaction. A relationship deleted with an end gets no event."""
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def change_of(verb: Verb, row_id: int, source: str, target: str, relation: int, strength: int) -> Change:
    """The event of a change; `source` and `target` are refs."""
    note = f"{source} {Relation(relation).label} {target}, {strength}"
    return Change("relationship", verb, f"relationship:{row_id}", {"note": note})
