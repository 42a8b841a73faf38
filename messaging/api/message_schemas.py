"""What only REST takes and answers about messages."""

from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Time, one_of
from messaging.rules import OWED
from messaging.selectors.messages import Holder, Message, State, WholeMessage


class Following(TypedDict):
    next: Annotated[bool, About("True: the most urgent open request, of those the oldest.", {"enum": [True]})]


class ThreadMessage(Message):
    reply_to: int | None
    state: State | None
    by: Holder | None
    result_refs: list[str] | None


class ClaimAnswer(TypedDict):
    claimed: Annotated[WholeMessage | None, About("Null: there is none.")]


class Receipt(TypedDict):
    agent: str
    read: bool
    owes: Annotated[str, About("What is missing: read, as it is urgent, or ack."), one_of(*OWED)] | None
    read_at: Time | None
    acked_at: Time | None
