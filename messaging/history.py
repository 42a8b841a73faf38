"""What every change of messages leaves behind, whoever wrote it: figures and events."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.priority import Priority
from ctxhub.core.search.services.index import index_documents
from ctxhub.core.text import secrets
from messaging.models import MessageType
from messaging.rows import Said
from messaging.search import message_document

NOTE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Sent(Said):
    """A message that has just been written, with all names as the project writes them.

    `told_at`: when that happened, if it is not when it was said.
    """

    type: int
    priority: int
    told_at: datetime | None = None


def record_sent(*, project_id: int, agent_id: int | None, messages: Sequence[Sent], at: datetime) -> None:
    """Count new messages, index them and write their events, as the last statements of the transaction."""
    add_to_counters(project_id, Counter({counter_key("message"): len(messages)}))
    index_documents(project_id, "message", [message_document(sent) for sent in messages], are_new=True)
    changes = [
        Change("message", "sent", f"message:{sent.id}", _told(sent), sent.told_at or sent.at)
        for sent in messages
    ]
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def record_changes(
    *, project_id: int, agent_id: int | None, changes: Sequence[tuple[int, str, dict[str, Any]]], at: datetime
) -> None:
    """Write the events of what happened to messages: id, verb, and what there is to tell.

    `to` in it names whom it concerns; others who wait for news are not disturbed.
    """
    record(
        project_id=project_id,
        agent_id=agent_id,
        changes=[Change("message", verb, f"message:{row_id}", data) for row_id, verb, data in changes],
        at=at,
    )


def claim_data(sender: str, until: datetime) -> dict[str, Any]:
    """What the event of a claimed request holds: it concerns its sender."""
    return {"to": [sender], "until": format_time(until)}


def done_data(sender: str, refs: Sequence[str]) -> dict[str, Any]:
    return {"to": [sender], **({"refs": list(refs), "note": ", ".join(refs)} if refs else {})}


def record_deleted(*, project_id: int, agent_id: int | None, message_id: int, at: datetime) -> None:
    add_to_counters(project_id, Counter({counter_key("message"): -1}))
    record_changes(project_id=project_id, agent_id=agent_id, changes=[(message_id, "deleted", {})], at=at)


def _told(sent: Sent) -> dict[str, Any]:
    addressed = {} if sent.to is None else {"to": list(sent.to)}
    words = {"type": MessageType(sent.type).label, "priority": Priority(sent.priority).label}
    # The log outlives a message that is deleted for what it holds.
    is_secret = secrets.find_secret(sent.text) is not None
    return {**addressed, **words, **({} if is_secret else {"note": sent.text[:NOTE_CHARACTERS]})}
