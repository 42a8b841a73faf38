"""Sends messages. Nothing else creates them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, NotRequired, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.named_agents import find_known_names
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, may_read
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.toolbox.argument_types import About
from ctxhub.core.toolbox.batch_writes import BatchAnswer, Items, write_batch
from ctxhub.core.vocabulary.services.names import register_agent
from messaging.history import HISTORY
from messaging.inputs import MessageArguments, MessageFields, clean_message
from messaging.models import MessageType, RequestState
from messaging.rows import MESSAGES, MessageRow
from messaging.selectors.messages import unknown_message
from messaging.sql.deliveries import known_names


class SendAnswer(TypedDict):
    id: int
    thread: int
    to: Annotated[list[str] | None, About("Null: everyone.")]
    unknown: NotRequired[Annotated[list[str], About("Names that no agent here has had.")]]


Outcome = SendAnswer | CtxhubError
Recipients = Sequence[str] | None
"""Names; None is everyone."""

# -- Services --------------------------------------------------------------------------------------


def send_message(*, caller: Caller, text: str, **rest: Unpack[MessageArguments]) -> SendAnswer:
    """Send a message to some agents, or to everyone in the project.

    A reply (`reply_to`) joins the thread of the message it answers; without `to` it goes to that message's
    sender, or, if the caller sent it, to its recipients. `ack_within` ("2h") implies `ack`. Raises NotFound
    for an unknown `reply_to`. `unknown` in the answer lists names that no agent of the project has had; the
    message is delivered to them all the same.
    """
    known = find_known_names(caller.project_id, rest.get("to") or ())
    fields = clean_message(caller, text=text, known=known, **rest)
    with write_transaction(caller.project_id):
        return send_checked(caller, fields)


def send_checked(caller: Caller, fields: MessageFields) -> SendAnswer:
    """Send a message whose fields were checked, or made by the hub itself, in the caller's transaction."""
    [outcome] = _send(caller, [fields])
    if isinstance(outcome, CtxhubError):
        raise outcome
    return outcome


def send_message_batch(*, caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
    """Send up to 50 messages in a number of statements that does not grow with them.

    An item is the arguments of `send_message`, or the error with which REST or MCP has refused it already.
    `atomic`: all or nothing, the error names the `index`; otherwise valid items are sent, and each result
    is an answer or an error.
    """
    recipients = (name for item in items if isinstance(item, Mapping) for name in item.get("to") or ())
    clean = partial(clean_message, known=find_known_names(caller.project_id, recipients))
    return write_batch(caller, items, clean=clean, write=_send, answer=_as_mapping, atomic=atomic)


# -- Pieces ----------------------------------------------------------------------------------------


def _send(caller: Caller, items: Sequence[MessageFields]) -> list[Outcome]:
    at = clock.now()
    replied = [fields.reply_to for fields in items if fields.reply_to]
    answered = MESSAGES.read(caller.project_id, list(dict.fromkeys(replied)))
    sendable = [fields for fields in items if fields.reply_to is None or fields.reply_to in answered]
    written = iter(_write(caller, sendable, answered, at) if sendable else ())
    return [
        next(written)
        if fields.reply_to is None or fields.reply_to in answered
        else unknown_message(fields.reply_to)
        for fields in items
    ]


def _write(
    caller: Caller, items: Sequence[MessageFields], answered: Mapping[int, MessageRow], at: datetime
) -> list[SendAnswer]:
    """Write the messages. Their times differ by a microsecond, so that an inbox keeps their order."""
    agent_id = register_agent(caller, at)
    addressed = [_addressed(fields, answered, caller.agent) for fields in items]
    recipient_names = [name for names in addressed for name in names or ()]
    known = known_names(caller.project_id, [caller.agent, *recipient_names])
    sender = known[caller.agent.casefold()]
    new = [
        _new_message(
            fields, answered, (agent_id, sender), _spelled(names, known), at + timedelta(microseconds=n)
        )
        for n, (fields, names) in enumerate(zip(items, addressed, strict=True))
    ]
    rows = MESSAGES.insert(caller.project_id, new)
    changes = [HISTORY.change(None, row) for row in rows]
    HISTORY.record(project_id=caller.project_id, agent_id=agent_id, changes=changes, at=at)
    return [_answer(row, known) for row in rows]


def _addressed(fields: MessageFields, answered: Mapping[int, MessageRow], own: str) -> Recipients:
    """The recipients given, or those that follow from the message it answers."""
    if fields.to is not None or fields.reply_to is None:
        return fields.to or None
    earlier = answered[fields.reply_to]
    return earlier.to if earlier.sender.casefold() == own.casefold() else [earlier.sender]


def _spelled(names: Recipients, known: Mapping[str, str]) -> Recipients:
    return None if names is None else [known.get(name.casefold(), name) for name in names]


def _new_message(
    fields: MessageFields,
    answered: Mapping[int, MessageRow],
    sender: tuple[int, str],
    to: Recipients,
    at: datetime,
) -> MessageRow:
    is_request = fields.type == MessageType.REQUEST
    return MessageRow(
        sender_id=sender[0],
        sender=sender[1],
        to=to,
        to_everyone=to is None,
        type=fields.type.value,
        state=(RequestState.OPEN if is_request else RequestState.NONE).value,
        priority=fields.priority.value,
        text=fields.text,
        payload=fields.payload,
        thread_id=answered[fields.reply_to].thread if fields.reply_to else fields.thread,
        reply_to_id=fields.reply_to,
        ack=fields.ack,
        ack_due_at=at + fields.ack_within if fields.ack_within else None,
        created_at=at,
    )


def _answer(row: MessageRow, known: Mapping[str, str]) -> SendAnswer:
    answer = SendAnswer(id=row.id, thread=row.thread, to=None if row.to is None else list(row.to))
    if may_read() and (unknown := [name for name in row.to or () if name.casefold() not in known]):
        answer["unknown"] = unknown
    return answer


def _as_mapping(answer: SendAnswer) -> Mapping[str, Any]:
    return {**answer}
