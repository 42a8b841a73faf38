"""The tool `message`: mail between agents."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.actions import action, tool
from ctxhub.core.toolbox.argument_types import AsIds, IdOf, Items, Json, Number, Says, Word, Words
from ctxhub.core.toolbox.batch_writes import BatchAnswer
from ctxhub.core.toolbox.batches import checked_items
from messaging.selectors import inbox as inboxes
from messaging.selectors import messages as selectors
from messaging.services import messages as services
from messaging.services.mailboxes import open_mailbox
from messaging.services.receipts import (
    AckAnswer,
    ReadAnswer,
    acknowledge_messages,
    read_messages_of,
)
from messaging.services.requests import ClaimAnswer, DoneAnswer, claim_request, finish_request

tool(
    "message",
    "Mail between agents: threads, receipts, requests that one agent claims.",
    otherwise=[({"text"}, "send"), (set(), "inbox")],
)

TypeWord = Annotated[Word, Says("info|request|warning|decision")]
PriorityWord = Annotated[Word, Says("low|medium|high|critical")]
Id = Annotated[Number, IdOf("message")]
Ids = Annotated[list[Id], AsIds]


@action(
    "message",
    "send",
    writes=True,
    example={"text": "The login tests fail on main.", "to": ["ben"], "type": "request", "priority": "high"},
    also_known_as=("send_message", "reply", "broadcast"),
)
def send(
    caller: Caller,
    text: str,
    to: Words | None = None,
    type: TypeWord = "info",  # The contract's name.
    priority: PriorityWord = "medium",
    payload: Json | None = None,
    reply_to: Id | None = None,
    ack: bool = False,
    ack_within: Word | None = None,
) -> services.SendAnswer:
    """Write to some agents, or to everyone: leave `to` out.

    A request is what one agent claims. `reply_to` joins the thread and answers its author, unless `to` says
    otherwise ([]: everyone). `ack` asks each recipient to acknowledge; `ack_within` ("2h") until when.
    `unknown` in the answer names recipients never seen here: check their spelling. `payload`: any JSON.
    """
    return services.send_message(
        caller=caller,
        text=text,
        to=to,
        type=type,
        priority=priority,
        payload=payload,
        reply_to=reply_to,
        ack=ack,
        ack_within=ack_within,
    )


@action(
    "message",
    "send_batch",
    writes=True,
    example={"items": [{"text": "Deploy at noon.", "ack": True}, {"text": "Tests, please.", "to": ["ben"]}]},
    also_known_as=("send_messages",),
)
def send_batch(caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
    """Send up to 50 messages; each item takes what `send` takes.

    atomic: all or nothing, the error names the `index`. Otherwise each result tells how its item went.
    """
    checked = checked_items(items, "message", "send")
    return services.send_message_batch(caller=caller, items=checked, atomic=atomic)


@action(
    "message",
    "inbox",
    example={"priority": "high", "limit": 10},
    also_known_as=("get_messages", "get", "list", "receive", "messages"),
)
def inbox(
    caller: Caller,
    unread: bool = True,
    priority: Word | None = None,
    type: Word | None = None,  # The contract's name.
    state: Annotated[Word, Says("open|claimed|done")] | None = None,
    since: str | None = None,
    limit: Number = 20,
    cursor: str | None = None,
    wait_seconds: Number = 0,
) -> Listing:
    """What is addressed to you, urgent first, then newest; unread false: also what you have read.

    The list marks nothing: `read` what you have dealt with. `to` null is everyone; `ack` true: they wait for
    your `ack`. `state` is of requests. `wait_seconds` (0 to 60): come back as soon as something arrives.
    """
    open_mailbox(caller)
    return inboxes.wait_for_inbox(
        caller,
        unread=unread,
        priority=priority,
        type=type,
        state=state,
        since=since,
        limit=limit,
        cursor=cursor,
        wait_seconds=wait_seconds,
    )


@action(
    "message",
    "read",
    writes=True,
    idempotent=True,
    example={"all": True},
    also_known_as=("mark_read", "mark_as_read"),
)
def read(caller: Caller, ids: Ids | None = None, all: bool = False) -> ReadAnswer:
    """Mark messages as read, for you alone."""
    return read_messages_of(caller=caller, ids=ids, everything=all)


@action("message", "ack", writes=True, idempotent=True, example={"ids": [1]}, also_known_as=("acknowledge",))
def ack(caller: Caller, ids: Ids) -> AckAnswer:
    """Acknowledge messages: their author sees that you have."""
    return acknowledge_messages(caller=caller, ids=ids)


@action("message", "thread", example={"id": 1}, also_known_as=("get_thread", "history"))
def thread(caller: Caller, id: Id, limit: Number = 20, cursor: str | None = None) -> Listing:
    """A conversation, oldest first, by the id of any message in it."""
    return selectors.list_thread(caller.project_id, id, limit=limit, cursor=cursor)


@action("message", "status", example={"id": 1}, also_known_as=("receipts",))
def status(
    caller: Caller,
    id: Id,
    limit: Number = MAX_LIMIT,
    cursor: str | None = None,
) -> Listing:
    """Who has read and acknowledged a message, and how far a request is."""
    return selectors.list_receipts(caller.project_id, id, limit=limit, cursor=cursor)


@action("message", "claim", writes=True, example={"next": True}, also_known_as=("claim_request", "take"))
def claim(
    caller: Caller,
    id: Id | None = None,
    next: bool = False,
    minutes: Number = 30,
) -> ClaimAnswer:
    """Take a request, by id or the next one, so that nobody else works on it.

    Of the requests to you or to everyone, `next` takes the most urgent, of those the oldest; null: there is
    none. An expired claim returns to the others; claiming again extends yours.
    """
    return claim_request(caller=caller, message_id=id, following=next, minutes=minutes)


@action(
    "message",
    "done",
    writes=True,
    idempotent=True,
    example={"id": 1, "result_refs": ["decision:api/auth/method"]},
    also_known_as=("finish", "complete"),
)
def done(caller: Caller, id: Id, result_refs: Words | None = None) -> DoneAnswer:
    """A request is dealt with; result_refs: what came of it."""
    return finish_request(caller=caller, message_id=id, result_refs=result_refs)
