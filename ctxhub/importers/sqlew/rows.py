"""What a database of sqlew holds, with names for ids and moments for seconds; nothing is checked yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Value = str | float | None


@dataclass(frozen=True, slots=True)
class OldVersion:
    """A value that a decision once had. `is_number`: from the table of numbers; the history holds texts."""

    value: Value
    version: str | None
    agent: str | None
    at: datetime | None
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a decision was taken. `alternatives` and `tradeoffs`: what was stored as JSON, or a text."""

    rationale: str | None = None
    alternatives: Any = None
    tradeoffs: Any = None


@dataclass(frozen=True, slots=True)
class OldDecision:
    """A key with its value and what came before, oldest first. `is_number`: from the table of numbers."""

    key: str | None
    value: Value
    is_number: bool
    version: str | None
    status: Any
    layer: str | None
    agent: str | None
    at: datetime | None
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    history: Sequence[OldVersion] = ()
    reasons: Reasons = Reasons()


@dataclass(frozen=True, slots=True)
class OldConstraint:
    category: str | None
    text: str | None
    priority: Any
    layer: str | None
    agent: str | None
    is_active: bool
    reason: str | None
    at: datetime | None
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class OldMessage:
    """`to` None: to everyone; `is_read` is one flag for all its readers."""

    sender: str | None
    to: str | None
    type: Any
    priority: Any
    text: str | None
    payload: Any
    is_read: bool
    at: datetime | None


@dataclass(frozen=True, slots=True)
class OldChange:
    path: str | None
    change: Any
    layer: str | None
    agent: str | None
    description: str | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class OldHub:
    """One project of a database of sqlew. `homeless`: how many rows of what has no place in ctxhub."""

    version: str
    decisions: Sequence[OldDecision] = ()
    constraints: Sequence[OldConstraint] = ()
    messages: Sequence[OldMessage] = ()
    changes: Sequence[OldChange] = ()
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    homeless: Mapping[str, int] = field(default_factory=dict)
