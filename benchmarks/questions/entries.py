"""What a question may be answered by: one entry of a team's memory."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    DECISION = "decision"
    CONSTRAINT = "constraint"
    MESSAGE = "message"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Entry:
    """`title` is a decision's key, a constraint's category, a change's path, a message's subject.

    A message's text answers without its subject, so that a message can be stored without one.
    """

    id: str
    kind: Kind
    title: str
    text: str
    tags: tuple[str, ...]
