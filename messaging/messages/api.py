"""REST views of messages: the caller's inbox, sending, receipts, threads, requests."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.rest.answers import batch_of, written
from ctxhub.rest.operations import CREATED, lists, performs, reads
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, Time, one_of
from messaging.messages import queries
from messaging.messages.inbox import wait_for_inbox
from messaging.messages.models import OWED
from messaging.messages.queries import HeldBy, Message, State, WholeMessage
from messaging.messages.services import SendAnswer, open_mailbox, send_message_batch


class Following(TypedDict):
    next: Annotated[bool, About("True: the most urgent open request, of those the oldest.", {"enum": [True]})]


class ThreadMessage(Message):
    reply_to: int | None
    state: State | None
    by: HeldBy | None
    result_refs: list[str] | None


class ClaimAnswer(TypedDict):
    claimed: Annotated[WholeMessage | None, About("Null: there is none.")]


class Receipt(TypedDict):
    agent: str
    read: bool
    owes: Annotated[str, About("What is missing: read, as it is urgent, or ack."), one_of(*OWED)] | None
    read_at: Time | None
    acked_at: Time | None


def list_or_wait(caller: Caller, **filters: Any) -> Listing:
    return wait_for_inbox(caller, has_mailbox=open_mailbox(caller), **filters)


SentMessage = written("SentMessage", SendAnswer, queries.WholeMessage)


class MessageViewSet(ProjectViewSet):
    kind = "message"
    for_readers = ("create",)
    instead = {
        **dict.fromkeys(
            ("PUT", "PATCH"), "A message does not change once it is sent: send another with `reply_to`."
        ),
        "POST": "POST to read/, ack/, claim/ or done/ below this address; a reply goes to messages/.",
        "DELETE": "A message is kept: POST to read/ below this address takes it out of your inbox; POST to "
        "call/hub/clear/, with the scope admin, removes old ones.",
    }

    def item(self, message_id: int) -> dict[str, Any]:
        return queries.message_item(queries.get_message(self.project_id, message_id))

    list = lists(
        takes("message", "inbox"),
        queries.ListedMessage,
        of_caller=list_or_wait,
        orders=(["priority", "at"], "-priority"),
        says="Your inbox: urgent first, then newest. To look marks nothing as read.",
    )
    create = performs(
        takes("message", "send"),
        SentMessage,
        statuses=CREATED,
        says="Write to some agents, or to everyone.",
    )
    retrieve = reads(
        queries.WholeMessage,
        text="text",
        kind="message",
        says="One message, whole, or some lines of its text.",
    )


class MessageBatchViewSet(ProjectViewSet):
    # The action checks the items, which are checked here already.
    create = performs(
        takes("message", "send_batch", items=takes("message", "send", name="MessageItem")),
        batch_of(SendAnswer),
        by=send_message_batch,
        says="Send up to 50 messages at once: all or nothing, unless `atomic` is false.",
    )


class ReceiptViewSet(ProjectViewSet):
    """Reading and acknowledging, each for the agent that speaks."""

    has_authors = False
    for_readers = ("read_many", "read", "ack")

    read_many = performs(
        takes("message", "read"), operation_id="read_messages", says="Mark messages as read, these or all."
    )
    read = performs(
        takes("message", "read", at="ids", without=["all"], name="ReadMessage"),
        operation_id="read_message",
        of="message",
        says="Mark a message as read.",
    )
    ack = performs(
        takes("message", "ack", at="ids"),
        operation_id="acknowledge_message",
        of="message",
        says="Acknowledge a message.",
    )
    list = lists(
        takes("message", "status", at="id"),
        Receipt,
        by=queries.list_receipts,
        orders=(["agent"], "agent"),
        says="Who has read and acknowledged a message, and who owes it.",
    )


class RequestViewSet(ProjectViewSet):
    """Requests: one agent claims each, and says when it is done."""

    for_readers = ("claim_next", "claim", "done")

    claim_next = performs(
        takes(
            "message",
            "claim",
            without=["id", "next"],
            also=Following,
            name="ClaimNext",
            example={"next": True, "minutes": 30},
        ),
        ClaimAnswer,
        operation_id="claim_next_message",
        says="Take the most urgent open request to you or to everyone, of those the oldest.",
    )
    claim = performs(
        takes("message", "claim", at="id", without=["next"], example={"minutes": 30}),
        ClaimAnswer,
        operation_id="claim_message",
        says="Take a request, or extend your claim: 409 while another agent holds it.",
    )
    done = performs(
        takes("message", "done", at="id"),
        operation_id="finish_message",
        of="message",
        says="Say that a request is done, and what came of it.",
    )


class ThreadViewSet(ProjectViewSet):
    list = lists(
        takes("message", "thread", at="id"),
        ThreadMessage,
        by=queries.list_thread,
        orders=(["at"], "at"),
        says="A conversation, oldest first, by the id of any message in it.",
    )
