"""Rows of a sqlew database, with names instead of ids and parsed times, not validated yet."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit.frozen import frozen

Value = str | float | None


@frozen
class OldVersion:
    """An earlier value of a decision. `is_number`: from the table of numbers; the history holds texts."""

    value: Value
    version: str | None
    agent: str | None
    at: datetime | None
    is_number: bool = False


@frozen
class Reasons:
    """Reasons of a decision. `alternatives` and `tradeoffs`: stored as JSON or text."""

    rationale: str | None = None
    alternatives: Any = None
    tradeoffs: Any = None


@frozen
class OldDecision:
    """A key with its value and history, oldest first. `is_number`: from the table of numbers."""

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


@frozen
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


@frozen
class OldMessage:
    """A message. `to`: None for everyone; `is_read`: one flag for all recipients."""

    sender: str | None
    to: str | None
    type: Any
    priority: Any
    text: str | None
    payload: Any
    is_read: bool
    at: datetime | None


@frozen
class OldChange:
    path: str | None
    change: Any
    layer: str | None
    agent: str | None
    description: str | None
    at: datetime | None


@frozen
class OldHub:
    """One project of a sqlew database. `unsupported`: row counts of kinds that ctxhub does not have."""

    version: str
    decisions: Sequence[OldDecision] = ()
    constraints: Sequence[OldConstraint] = ()
    messages: Sequence[OldMessage] = ()
    changes: Sequence[OldChange] = ()
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    unsupported: Mapping[str, int] = field(default_factory=dict)
