"""REST views of messages: the caller's inbox, sending, receipts, threads, requests."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import batch_of, in_parts, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from messaging.api import message_schemas as schemas
from messaging.selectors import messages as selectors
from messaging.selectors.inbox import wait_for_inbox
from messaging.services.mailboxes import open_mailbox
from messaging.services.messages import SendAnswer, send_message, send_message_batch
from messaging.services.receipts import AckAnswer, ReadAnswer, acknowledge_messages, read_messages_of
from messaging.services.requests import DoneAnswer, claim_request, finish_request


class MessageViewSet(ProjectViewSet):
    instead = {
        **dict.fromkeys(
            ("PUT", "PATCH"), "A message does not change once it is sent: send another with `reply_to`."
        ),
        "POST": "POST to read/, ack/, claim/ or done/ below this address; a reply goes to messages/.",
        "DELETE": "A message is kept: POST to read/ below this address takes it out of your inbox; POST to "
        "call/hub/clear/, with the scope admin, removes old ones.",
    }
    queries = {"list": takes("message", "inbox"), "retrieve": READ_IN_PARTS}
    bodies = {"create": takes("message", "send")}

    @extend_schema(responses=page_of(selectors.ListedMessage))
    def list(self, request: Request, slug: str) -> Response:
        """Your inbox: urgent first, then newest. To look marks nothing as read."""
        has_mailbox = open_mailbox(self.caller)
        return self.listed(Page.of(wait_for_inbox(self.caller, has_mailbox=has_mailbox, **self.query)))

    @extend_schema(responses={201: SendAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Write to some agents, or to everyone."""
        return Response(self.perform(send_message, **self.body), status=201)

    @extend_schema(responses=in_parts(selectors.WholeMessage))
    def retrieve(self, request: Request, slug: str, message_id: int) -> Response:
        """One message, whole, or some lines of its text."""
        line_range = self.requested_lines()
        item = selectors.message_item(selectors.get_message(self.project_id, message_id))
        return Response(self.opened(Opened(item, "text", line_range, "message")))


class MessageBatchViewSet(ProjectViewSet):
    bodies = {
        "create": takes("message", "send_batch", items=takes("message", "send", name="MessageItem")),
    }

    @extend_schema(responses={200: batch_of(SendAnswer)})
    def create(self, request: Request, slug: str) -> Response:
        """Send up to 50 messages at once: all or nothing, unless `atomic` is false."""
        return Response(self.perform(send_message_batch, **self.body))


class ReceiptViewSet(ProjectViewSet):
    """Reading and acknowledging, each for the agent that speaks."""

    has_authors = False

    queries = {"list": takes("message", "status", without=["id"])}
    bodies = {
        "read_many": takes("message", "read"),
        "read": takes("message", "read", without=["ids", "all"], name="ReadMessage"),
        "ack": takes("message", "ack", without=["ids"]),
    }

    @extend_schema(responses={200: ReadAnswer}, operation_id="read_messages")
    def read_many(self, request: Request, slug: str) -> Response:
        """Mark messages as read, these or all."""
        ids, everything = self.body.get("ids"), self.body.get("all", False)
        return Response(self.perform(read_messages_of, ids=ids, everything=everything))

    @extend_schema(responses={200: ReadAnswer}, operation_id="read_message")
    def read(self, request: Request, slug: str, message_id: int) -> Response:
        """Mark a message as read."""
        return Response(self.perform(read_messages_of, ids=[message_id]))

    @extend_schema(responses={200: AckAnswer}, operation_id="acknowledge_message")
    def ack(self, request: Request, slug: str, message_id: int) -> Response:
        """Acknowledge a message."""
        return Response(self.perform(acknowledge_messages, ids=[message_id]))

    @extend_schema(responses=page_of(schemas.Receipt))
    def list(self, request: Request, slug: str, message_id: int) -> Response:
        """Who has read and acknowledged a message, and who owes it."""
        return self.listed(Page.of(selectors.list_receipts(self.project_id, message_id, **self.query)))


class RequestViewSet(ProjectViewSet):
    """Requests: one agent claims each, and says when it is done."""

    bodies = {
        "claim_next": takes(
            "message",
            "claim",
            without=["id", "next"],
            also=schemas.Following,
            name="ClaimNext",
            example={"next": True, "minutes": 30},
        ),
        "claim": takes("message", "claim", without=["id", "next"], example={"minutes": 30}),
        "done": takes("message", "done", without=["id"]),
    }

    @extend_schema(responses={200: schemas.ClaimAnswer}, operation_id="claim_next_message")
    def claim_next(self, request: Request, slug: str) -> Response:
        """Take the most urgent open request to you or to everyone, of those the oldest."""
        following = self.body.pop("next")
        return Response(self.perform(claim_request, following=following, **self.body))

    @extend_schema(responses={200: schemas.ClaimAnswer}, operation_id="claim_message")
    def claim(self, request: Request, slug: str, message_id: int) -> Response:
        """Take a request, or extend your claim: 409 while another agent holds it."""
        return Response(self.perform(claim_request, message_id=message_id, **self.body))

    @extend_schema(responses={200: DoneAnswer}, operation_id="finish_message")
    def done(self, request: Request, slug: str, message_id: int) -> Response:
        """Say that a request is done, and what came of it."""
        return Response(self.perform(finish_request, message_id=message_id, **self.body))


class ThreadViewSet(ProjectViewSet):
    queries = {"list": takes("message", "thread", without=["id"])}

    @extend_schema(responses=page_of(schemas.ThreadMessage))
    def list(self, request: Request, slug: str, message_id: int) -> Response:
        """A conversation, oldest first, by the id of any message in it."""
        return self.listed(Page.of(selectors.list_thread(self.project_id, message_id, **self.query)))
