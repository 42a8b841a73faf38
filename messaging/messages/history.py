"""Records new, changed and deleted messages, and the events of what is done with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.dispatch import Signal

from ctxhub.core.events import log
from ctxhub.core.history import NONE, Change, History
from ctxhub.core.kit.clock import format_time
from ctxhub.core.models import Agent
from ctxhub.core.search.documents import Document
from ctxhub.core.text import secrets
from ctxhub.core.text.readable import as_lines
from messaging.messages.deliveries import (
    copy_to_deliveries,
    deliver,
    deliver_to_everyone,
    insert_results,
    mark_read,
    replace_results,
)
from messaging.messages.rows import MESSAGES, MessageRow
from messaging.models import RequestState

NAMES_IN_TITLE = 4


def message_document(message: MessageRow) -> Document:
    return Document(
        object_id=message.id,
        ref=f"message:{message.id}",
        title=f"{message.sender} to {_recipients(message.named_to)}",
        body="\n\n".join(_lines(message)),
        at=message.created_at,
        agent_id=message.sender_id,
        readable=(0, len(message.text)),
    )


def _recipients(to: Sequence[str] | None) -> str:
    if to is None:
        return "everyone"
    more = len(to) - NAMES_IN_TITLE
    return ", ".join(_sorted(to)[:NAMES_IN_TITLE]) + (f" and {more} more" if more > 0 else "")


def _lines(message: MessageRow) -> Iterator[str]:
    yield message.text
    yield from as_lines(message.payload)
    yield from message.choices
    if message.to and (others := _sorted(message.to)[NAMES_IN_TITLE:]):
        yield f"to {', '.join(others)}"


def _sorted(names: Sequence[str]) -> list[str]:
    return sorted(names, key=str.casefold)


NOTE_CHARACTERS = 60
HANDLED_STATES = (RequestState.CLAIMED, RequestState.DONE)

# Sent after the event of a request that was done through the ORM. Arguments: project_id, request.
done_by_orm = Signal()


class MessageHistory(History[MessageRow]):
    """Services record what they do with a message by `record_changes`: changed rows are from the ORM.

    The `detail` of a new message is the time of its event, if that is not the message's.
    """

    kind = "message"
    table = MESSAGES
    compared = (
        *("type", "priority", "text", "payload", "to_everyone", "to_people", "ack", "ack_due_at"),
        *("ack_overdue", "state", "choices", "choice", "escalated", "claimed_by_id", "claimed_until"),
        *("done_at", "result_refs"),
    )
    shown = {Agent: "sender"}

    def document(self, row: MessageRow) -> Document:
        return message_document(row)

    def index(
        self, project_id: int, changes: Sequence[Change[MessageRow]], states: Mapping[int, Any] = NONE
    ) -> None:
        """Many changes do not show: claims, acknowledgements."""
        shown = [c for c in changes if c.new and not (c.old and self.document(c.old) == self.document(c.new))]
        super().index(project_id, shown, states)

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[MessageRow]], at: datetime
    ) -> Mapping[int, Any]:
        """Deliver new messages, and update the deliveries and results of changed ones.

        The agent that claims or finishes a request has read it.
        """
        new = [change.row for change in changes if change.old is None and not change.is_restored]
        insert_results(project_id, {row.id: row.result_refs for row in new})
        deliver(project_id, new)
        for change in changes:
            row = change.row
            if not change.changed:
                continue
            if "result_refs" in change.changed:
                replace_results(project_id, row.id, row.result_refs)
            copy_to_deliveries(row.id)
            if row.to_everyone:
                deliver_to_everyone([row.id])
            if _is_handled(change) and row.claimed_by:
                mark_read(project_id, row.claimed_by.casefold(), [row.id], at)
        return {}

    def record(
        self, *, project_id: int, agent_id: int | None, changes: Sequence[Change[MessageRow]], at: datetime
    ) -> None:
        super().record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)
        for change in changes:
            if _is_handled(change) and change.row.state == RequestState.DONE:
                done_by_orm.send(None, project_id=project_id, request=change.row)

    def event(self, change: Change[MessageRow], at: datetime) -> log.Change:
        row = change.row
        if change.old or change.is_restored:
            return super().event(change, at)
        return log.Change(self.kind, "sent", self.ref(row), _sent_data(row), change.detail or row.created_at)

    def verb(self, change: Change[MessageRow]) -> str:
        row = change.row
        if _is_handled(change):
            return str(RequestState(row.state).label)
        if "escalated" in change.changed and row.escalated:
            return "escalated"
        return "overdue" if "ack_overdue" in change.changed and row.ack_overdue else "updated"

    def data(self, change: Change[MessageRow]) -> dict[str, Any]:
        row = change.row
        if not _is_handled(change):
            return super().data(change)
        if row.state == RequestState.CLAIMED and row.claimed_until:
            return claim_data(row.sender, row.claimed_until)
        return done_data(row.sender, row.result_refs)

    def saved(self, project_id: int, old: MessageRow | None, row: MessageRow) -> MessageRow:
        """Recipients of a new one are added later, as deliveries."""
        new = replace(row, to=None if row.to_everyone else ())
        return super().saved(project_id, old, row) if old else new

    def acting_agent(self, project_id: int, change: Change[MessageRow], at: datetime) -> int | None:
        return super().acting_agent(project_id, change, at) if change.old else change.row.sender_id

    def recompute(self, row: MessageRow) -> MessageRow:
        """A request without a state is open."""
        is_open = row.is_request and row.state == RequestState.NONE
        return replace(row, state=RequestState.OPEN) if is_open else row


HISTORY = MessageHistory()


def record_changes(
    *, project_id: int, agent_id: int | None, changes: Sequence[tuple[int, str, dict[str, Any]]], at: datetime
) -> None:
    """Write the events of what was done with messages, each (message id, verb, event data).

    `to` in the data names the agents concerned; other waiting agents are not woken.
    """
    written = [log.Change("message", verb, f"message:{row_id}", data) for row_id, verb, data in changes]
    log.record(project_id=project_id, agent_id=agent_id, changes=written, at=at)


def claim_data(sender: str, until: datetime) -> dict[str, Any]:
    """The data of a `claimed` event, addressed to the request's sender."""
    return {"to": [sender], "until": format_time(until)}


def done_data(sender: str, refs: Sequence[str]) -> dict[str, Any]:
    return {"to": [sender], **({"refs": list(refs), "note": ", ".join(refs)} if refs else {})}


def _sent_data(sent: MessageRow) -> dict[str, Any]:
    addressed = {} if sent.to is None else {"to": [*sent.to, *sent.people]}
    labels = {"type": sent.type_label, "priority": sent.priority_label}
    # The log outlives a message that is deleted because it contains a secret.
    is_secret = secrets.find_secret(sent.text) is not None
    return {**addressed, **labels, **({} if is_secret else {"note": sent.text[:NOTE_CHARACTERS]})}


def _is_handled(change: Change[MessageRow]) -> bool:
    """Whether a request was claimed or done."""
    return "state" in change.changed and change.row.state in HANDLED_STATES
