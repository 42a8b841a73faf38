"""What only REST takes about messages, and its responses, for the OpenAPI schema."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.kit.priority import Priority
from ctxhub.core.toolbox.argument_types import About, Time, one_of
from messaging.models import MessageType
from messaging.selectors.request_states import STATES

TYPES = [str(label) for label in MessageType.labels]
PRIORITIES = [str(label) for label in Priority.labels]


class Following(TypedDict):
    next: Annotated[bool, About("True: the most urgent open request, of those the oldest.", {"enum": [True]})]


# -- Answers ---------------------------------------------------------------------------------------


Sender = TypedDict("Sender", {"from": Annotated[str, About("Who wrote it.")]})


class Message(Sender):
    """Which of the optional ones are there depends on the message."""

    id: int
    to: Annotated[list[str] | None, About("Null: everyone.")]
    type: Annotated[str, one_of(*TYPES)]
    priority: Annotated[str, one_of(*PRIORITIES)]
    text: str
    payload: NotRequired[Annotated[Any, About("Any JSON.", {"nullable": True})]]
    ack: NotRequired[bool | None]
    at: Time


class ListedMessage(Message):
    thread: Annotated[int, About("The first message of its thread.")]


class ThreadMessage(Message):
    reply_to: int | None
    state: Annotated[str, one_of(*STATES)] | None
    by: Annotated[str | None, About("Who holds it, or has done it.")]
    result_refs: list[str] | None


class WholeMessage(ListedMessage):
    reply_to: NotRequired[int]
    ack_due: NotRequired[Time]
    state: NotRequired[Annotated[str, one_of(*STATES)]]
    by: NotRequired[Annotated[str, About("Who holds it, or has done it.")]]
    claimed_until: NotRequired[Time]
    result_refs: NotRequired[list[str]]


class ClaimAnswer(TypedDict):
    claimed: Annotated[WholeMessage | None, About("Null: there is none.")]


class Receipt(TypedDict):
    agent: str
    read_at: Time | None
    acked_at: Time | None
