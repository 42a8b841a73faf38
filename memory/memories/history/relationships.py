"""What every change of relationships leaves behind, whoever wrote it: an event."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from ctxhub.core.events.services.events import Change, record
from memory.memories.models.relationship import Relation

Verb = Literal["created", "updated", "deleted"]


def record_relationships(
    *, project_id: int, agent_id: int | None, changes: Sequence[Change], at: datetime
) -> None:
    """As the last statement of the transaction. What goes with one of its ends goes without an event."""
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def change_of(verb: Verb, row_id: int, source: str, target: str, relation: int, strength: int) -> Change:
    """`source`, `target`: refs."""
    note = f"{source} {Relation(relation).label} {target}, {strength}"
    return Change("relationship", verb, f"relationship:{row_id}", {"note": note})
