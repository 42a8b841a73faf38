"""Receives what agents are given and write, and what changes of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from ctxhub.core.given import GivenAnswer, given
from ctxhub.core.history import Change, changed
from sessions.given.services import WRITER, note_written
from sessions.nudges.telling import tell_of_changes, tell_of_release
from tracking.leases.history import force_released
from tracking.leases.rows import LeaseRow


@receiver(given)
def record(answer: GivenAnswer, **_: Any) -> None:
    WRITER.put(answer, len(answer.items))


@receiver(changed)
def tell(
    project_id: int, agent_id: int | None, changes: Sequence[Change[Any]], at: datetime, **_: Any
) -> None:
    """Tell of changed decisions. An import has no agent, tells nobody, and counts as nobody's write."""
    if agent_id is not None:
        note_written(project_id=project_id, agent_id=agent_id, changes=changes, at=at)
        tell_of_changes(project_id=project_id, changer_id=agent_id, changes=changes, at=at)


@receiver(force_released)
def tell_holders(
    project_id: int, agent_id: int | None, leases: Sequence[LeaseRow], reason: str, **_: Any
) -> None:
    tell_of_release(project_id=project_id, agent_id=agent_id, leases=leases, reason=reason)
