"""Reads single messages, threads and receipts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.inputs import MAX_LIMIT, clean_limit
from ctxhub.core.kit.listing import Listing, make_cursor, preview, read_cursor
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.toolbox.argument_types import About, Time, one_of
from messaging.inputs import LARGEST_ID
from messaging.models import MessageType, RequestState
from messaging.rows import MESSAGES, MessageRow, read_thread
from messaging.selectors.receipts import Receipt, read_receipts, receipts_of
from messaging.selectors.request_states import STATES

THREAD_COLUMNS = (
    *("id", "from", "to", "type", "priority", "text", "payload", "reply_to", "ack", "state", "by"),
    *("result_refs", "at"),
)
RECEIPT_COLUMNS = ("agent", "read", "owes", "read_at", "acked_at")

Sender = TypedDict("Sender", {"from": Annotated[str, About("Who wrote it.")]})
State = Annotated[str, one_of(*STATES)]
Holder = Annotated[str, About("Who holds it, or has done it.")]


class Message(Sender):
    """Which of the optional ones are there depends on the message."""

    id: int
    to: Annotated[list[str] | None, About("Null: everyone.")]
    type: Annotated[str, one_of(*MessageType.labels)]
    priority: Annotated[str, one_of(*Priority.labels)]
    text: str
    payload: NotRequired[Annotated[Any, About("Any JSON.", {"nullable": True})]]
    ack: NotRequired[bool | None]
    at: Time


class ListedMessage(Message):
    thread: Annotated[int, About("The first message of its thread.")]


class WholeMessage(ListedMessage):
    reply_to: NotRequired[int]
    ack_due: NotRequired[Time]
    state: NotRequired[State]
    by: NotRequired[Holder]
    claimed_until: NotRequired[Time]
    result_refs: NotRequired[list[str]]


def find_message(project_id: int, message_id: int) -> MessageRow | None:
    return MESSAGES.read(project_id, [message_id]).get(message_id) if 0 < message_id <= LARGEST_ID else None


def get_message(project_id: int, message_id: int) -> MessageRow:
    """The message of this id. Raises NotFound."""
    message = find_message(project_id, message_id)
    if message is None:
        raise unknown_message(message_id)
    return message


def unknown_message(message_id: int) -> NotFound:
    return NotFound(
        f"There is no message {message_id}.",
        hint=f"{operation('message inbox')} shows yours, with their ids.",
    )


def message_item(message: MessageRow, now: datetime | None = None) -> dict[str, Any]:
    """A message with all its fields; empty ones are left out."""
    now = now or clock.now()
    item: WholeMessage = {
        "id": message.id,
        "from": message.sender,
        "to": None if message.to is None else list(message.to),
        "type": message.type_label,
        "priority": message.priority_label,
        "text": message.text,
        "thread": message.thread,
        "at": format_time(message.created_at),
    }
    if message.payload is not None:
        item["payload"] = message.payload
    if message.reply_to_id is not None:
        item["reply_to"] = message.reply_to_id
    if message.ack:
        item["ack"] = True
    if message.ack_due_at:
        item["ack_due"] = format_time(message.ack_due_at)
    if state := message.state_label(now):
        item["state"] = state
    is_held = message.is_held(now)
    if message.claimed_by is not None and (is_held or message.state == RequestState.DONE):
        item["by"] = message.claimed_by
    if is_held and message.claimed_until:
        item["claimed_until"] = format_time(message.claimed_until)
    if message.result_refs:
        item["result_refs"] = list(message.result_refs)
    return dict(item)


def find_thread(project_id: int, root: int, *, limit: int, after: int = 0) -> list[MessageRow]:
    """The messages of a thread with ids greater than `after`, oldest first."""
    return read_thread(project_id, root, after, limit)


def list_thread(project_id: int, message_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """The thread that contains this message, oldest first. Raises NotFound."""
    limit = clean_limit(limit)
    after = read_cursor(cursor, int)[0] if cursor else 0
    root = get_message(project_id, message_id).thread
    found = read_thread(project_id, root, after, limit + 1)
    rows, now = found[:limit], clock.now()
    return Listing(
        THREAD_COLUMNS,
        [_thread_row(message, now) for message in rows],
        next=make_cursor(rows[-1].id) if len(found) > limit else None,
        cursor_after=lambda count: make_cursor(rows[count - 1].id),
    )


def list_receipts(
    project_id: int, message_id: int, *, limit: int = MAX_LIMIT, cursor: str | None = None
) -> Listing:
    """Who owes a message or has read it: whether and when, and what it still owes: read, ack or null.

    Of a request also its state. Agents that came after a message to everyone owe nothing.
    """
    limit = clean_limit(limit)
    message = get_message(project_id, message_id)
    deliveries = receipts_of(project_id, [message_id])
    if cursor:
        deliveries = deliveries.filter(folded__gt=read_cursor(cursor, str)[0])
    found = list(read_receipts(deliveries.order_by("folded")[: limit + 1]))
    item = message_item(message)
    return Listing(
        RECEIPT_COLUMNS,
        [_receipt_row(receipt) for receipt in found[:limit]],
        next=make_cursor(found[limit - 1].folded) if len(found) > limit else None,
        extra={
            name: item[name]
            for name in ("ack_due", "state", "by", "claimed_until", "result_refs")
            if name in item
        },
        cursor_after=lambda count: make_cursor(found[count - 1].folded),
        kept=frozenset({"read", "owes"}),
    )


def _receipt_row(receipt: Receipt) -> list[Any]:
    times = (at and format_time(at) for at in (receipt.read_at, receipt.acked_at))
    return [receipt.name, receipt.read_at is not None, receipt.owes, *times]


def open_messages(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by name (id as text), or digests with shortened text unless `full`."""
    ids = {name: int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < 19}
    found = MESSAGES.read(project_id, list(ids.values()))
    now = clock.now()
    return {
        name: message_item(found[row_id], now) if full else _digest(found[row_id])
        for name, row_id in ids.items()
        if row_id in found
    }


def _digest(message: MessageRow) -> dict[str, Any]:
    return {"from": message.sender, "type": message.type_label, "text": preview(message.text)}


def _thread_row(message: MessageRow, now: datetime) -> list[Any]:
    item = message_item(message, now)
    return [item.get(name) for name in THREAD_COLUMNS]
