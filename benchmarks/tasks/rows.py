"""A row of the team's hub, and a task with the ids of its right rows."""

from dataclasses import dataclass
from enum import StrEnum

HELD_OUT_EVERY = 3


class Noun(StrEnum):
    DECISION = "decision"
    CONSTRAINT = "constraint"
    MESSAGE = "message"
    CHANGE = "change"
    LEASE = "lease"
    MEMORY = "memory"
    SNAPSHOT = "snapshot"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """`title` is a decision's key, a constraint's category, the path of a change or lease, a summary.

    `type` is that of a message or memory, or the action of a snapshot; `cause` the id of an earlier snapshot.
    """

    id: str
    noun: Noun
    text: str
    title: str = ""
    rationale: str = ""
    type: str = ""
    priority: str = ""
    layer: str = ""
    context: str = ""
    cause: str = ""
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """`right`: the ids of the rows that somebody needs who does the task."""

    number: int
    text: str
    right: tuple[str, ...]

    @property
    def is_held_out(self) -> bool:
        """Every third is measured apart, and not looked at while a brief is tuned."""
        return self.number % HELD_OUT_EVERY == 0
