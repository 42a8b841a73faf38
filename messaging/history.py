"""Records changes of messages in the counters, the search index and the event log."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from ctxhub.core.search.services.index import index_documents
from ctxhub.core.text import secrets
from messaging.models import MessageType
from messaging.rows import MessageContent
from messaging.search import message_document

NOTE_CHARACTERS = 60


@frozen
class Sent(MessageContent):
    """A message that has just been written, with names as the project spells them.

    `recorded_at`: time of the event, if it differs from the message's time.
    """

    type: int
    priority: int
    recorded_at: datetime | None = None


def record_sent(*, project_id: int, agent_id: int | None, messages: Sequence[Sent], at: datetime) -> None:
    """Count and index new messages and write their events, as the last statements of the transaction."""
    add_to_counters(project_id, Counter({counter_key("message"): len(messages)}))
    index_documents(project_id, "message", [message_document(sent) for sent in messages], are_new=True)
    changes = [
        Change("message", "sent", f"message:{sent.id}", _sent_data(sent), sent.recorded_at or sent.at)
        for sent in messages
    ]
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def record_changes(
    *, project_id: int, agent_id: int | None, changes: Sequence[tuple[int, str, dict[str, Any]]], at: datetime
) -> None:
    """Write the events of changes to messages, each (message id, verb, event data).

    `to` in the data names the agents concerned; other waiting agents are not woken.
    """
    record(
        project_id=project_id,
        agent_id=agent_id,
        changes=[Change("message", verb, f"message:{row_id}", data) for row_id, verb, data in changes],
        at=at,
    )


def claim_data(sender: str, until: datetime) -> dict[str, Any]:
    """The data of a `claimed` event, addressed to the request's sender."""
    return {"to": [sender], "until": format_time(until)}


def done_data(sender: str, refs: Sequence[str]) -> dict[str, Any]:
    return {"to": [sender], **({"refs": list(refs), "note": ", ".join(refs)} if refs else {})}


def record_deleted(*, project_id: int, agent_id: int | None, message_id: int, at: datetime) -> None:
    add_to_counters(project_id, Counter({counter_key("message"): -1}))
    record_changes(project_id=project_id, agent_id=agent_id, changes=[(message_id, "deleted", {})], at=at)


def _sent_data(sent: Sent) -> dict[str, Any]:
    addressed = {} if sent.to is None else {"to": list(sent.to)}
    labels = {"type": MessageType(sent.type).label, "priority": Priority(sent.priority).label}
    # The log outlives a message that is deleted because it contains a secret.
    is_secret = secrets.find_secret(sent.text) is not None
    return {**addressed, **labels, **({} if is_secret else {"note": sent.text[:NOTE_CHARACTERS]})}
