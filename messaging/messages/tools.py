"""The tool `message`: mail between agents."""

from typing import Annotated, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import REF, REQUIRED_TEXT
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    About,
    AsIds,
    Cursor,
    InMinutes,
    Items,
    Limit,
    Number,
    Refs,
    also_called,
)
from ctxhub.toolbox.batch_writes import BatchAnswer
from ctxhub.toolbox.batches import checked_items
from messaging.messages import queries, services
from messaging.messages.inbox import InboxArguments, wait_for_inbox
from messaging.messages.inputs import Id, MessageArguments
from messaging.messages.requests import (
    LONGEST_MINUTES,
    ClaimAnswer,
    DoneAnswer,
    claim_request,
    finish_request,
)
from messaging.messages.services import (
    AckAnswer,
    ReadAnswer,
    acknowledge_messages,
    open_mailbox,
    read_messages_of,
)

tool(
    "message",
    "Mail between agents; requests that one claims.",
    otherwise=[({"text"}, "send"), ({"choice"}, "send"), (set(), "inbox")],
)

UP_TO_200 = {"minItems": 1, "maxItems": MAX_LIMIT}

Ids = Annotated[list[Id], AsIds, About(items={"minimum": 1})]
Minutes = Annotated[
    Number, InMinutes, About("1 to 1440; left out: 30.", {"minimum": 1, "maximum": LONGEST_MINUTES})
]


@action(
    "message",
    "send",
    writes=True,
    for_readers=True,
    example={"text": "The login tests fail on main.", "to": ["ben"], "type": "request", "priority": "high"},
    also_known_as=("send_message", "reply", "broadcast"),
)
def send(
    caller: Caller,
    text: Annotated[str, About(schema=REQUIRED_TEXT)],
    **rest: Unpack[MessageArguments],
) -> services.SendAnswer:
    """Write to some agents, or to everyone: leave `to` out.

    A request is what one agent claims. `reply_to` joins the thread and answers its author, unless `to` says
    otherwise ([]: everyone). `ack` asks each recipient to acknowledge; `ack_within` ("2h") until when.
    `unknown` in the answer names recipients never seen here: check their spelling. "ada, ben" in `to` are two
    agents, "@ada" is ada. `payload`: any JSON. `choices`: answers to choose from; a reply takes one as its
    `choice`.
    """
    return services.send_message(caller=caller, text=text, **rest)


@action(
    "message",
    "send_batch",
    quiet=True,
    writes=True,
    example={"items": [{"text": "Deploy at noon.", "ack": True}, {"text": "Tests, please.", "to": ["ben"]}]},
    also_known_as=("send_messages",),
)
def send_batch(
    caller: Caller,
    items: Annotated[Items, About("Up to 50.")],
    atomic: Annotated[bool, About("All or nothing: the default.")] = True,
) -> BatchAnswer:
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
def inbox(caller: Caller, **filters: Unpack[InboxArguments]) -> Listing:
    """What is addressed to you, urgent first, then newest; unread false: also what you have read.

    The list marks nothing: `read` what you have dealt with. `to` null is everyone; `ack` true: they wait for
    your `ack`. `state` is of requests. `wait_seconds` (0 to 60): come back as soon as something arrives.
    """
    return wait_for_inbox(caller, has_mailbox=open_mailbox(caller), **filters)


@action(
    "message",
    "read",
    writes=True,
    for_readers=True,
    idempotent=True,
    example={"all": True},
    also_known_as=("mark_read", "mark_as_read"),
)
def read(
    caller: Caller,
    ids: Annotated[Ids, About("Up to 200. Or `all`.", UP_TO_200)] | Unset = UNSET,
    all: bool = False,
) -> ReadAnswer:
    """Mark messages as read, for you alone."""
    return read_messages_of(caller=caller, ids=if_set(ids, None), everything=all)


@action(
    "message",
    "ack",
    writes=True,
    for_readers=True,
    idempotent=True,
    example={"ids": [1]},
    also_known_as=("acknowledge",),
)
def ack(caller: Caller, ids: Ids) -> AckAnswer:
    """Acknowledge messages: their author sees that you have."""
    return acknowledge_messages(caller=caller, ids=ids)


@action("message", "thread", quiet=True, example={"id": 1}, also_known_as=("get_thread", "history"))
def thread(caller: Caller, id: Id, limit: Limit = 20, cursor: Cursor | None = None) -> Listing:
    """A conversation, oldest first, by the id of any message in it."""
    return queries.list_thread(caller.project_id, id, limit=limit, cursor=cursor)


@action("message", "status", quiet=True, example={"id": 1}, also_known_as=("receipts",))
def status(
    caller: Caller,
    id: Id,
    limit: Annotated[Limit, About("How many items a page holds; left out: 200.")] = MAX_LIMIT,
    cursor: Cursor | None = None,
) -> Listing:
    """Who has read and acknowledged a message, and how far a request is.

    `owes` is what is missing of an agent: `ack`, or `read` of an urgent one; null: nothing.
    """
    return queries.list_receipts(caller.project_id, id, limit=limit, cursor=cursor)


@action(
    "message",
    "claim",
    writes=True,
    for_readers=True,
    example={"next": True},
    also_known_as=("claim_request", "take"),
)
def claim(
    caller: Caller,
    id: Id | None = None,
    next: bool = False,
    minutes: Minutes = 30,
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
    for_readers=True,
    idempotent=True,
    example={"id": 1, "result_refs": ["decision:api/auth/method"]},
    also_known_as=("finish", "complete"),
)
def done(
    caller: Caller,
    id: Id,
    result_refs: Annotated[
        Refs, About("What came of it.", items=REF), also_called("result", "results", "ref", "refs")
    ]
    | Unset = UNSET,
) -> DoneAnswer:
    """A request is dealt with; result_refs: what came of it.

    Who asked gets a message that says so.
    """
    return finish_request(caller=caller, message_id=id, result_refs=if_set(result_refs, None))
