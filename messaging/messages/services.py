"""Sends messages, and marks them as read or acknowledged for each recipient. Nothing else creates them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, NamedTuple, NotRequired, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import is_registered, register_without_waiting
from ctxhub.core.accounts.named_agents import find_known_names
from ctxhub.core.accounts.names_of_people import find_names_of_people, name_key
from ctxhub.core.accounts.people import people_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import WRITE, Caller, may_read
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotAllowed, NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import About
from ctxhub.toolbox.batch_writes import BatchAnswer, Items, write_batch, write_one
from messaging.messages.deliveries import addressed_to, known_agents, mark_acked, mark_read, mark_some_read
from messaging.messages.history import HISTORY, record_changes
from messaging.messages.inputs import MessageArguments, MessageFields, clean_ids, clean_message
from messaging.messages.queries import unknown_message
from messaging.messages.rows import MESSAGES, MessageRow
from messaging.models import MessageType, RequestState
from messaging.questions.answering import names, require_answerer
from messaging.questions.choices import choice_taken
from messaging.questions.for_people import already_answered, is_taken_by_another, take


def open_mailbox(caller: Caller) -> bool:
    """Register the caller's agent, so that messages to everyone are in its inbox at the first look.

    Takes the project's write lock, or else a message sent at the same moment would miss the agent. Waits for
    nobody: False while others write, and the agent is registered after the answer.
    """
    return is_registered(caller) or register_without_waiting(caller)


class SendAnswer(TypedDict):
    id: int
    thread: int
    to: Annotated[list[str] | None, About("Null: everyone.")]
    unknown: NotRequired[Annotated[list[str], About("Names that no agent here has had.")]]


Outcome = SendAnswer | CtxhubError

# -- Services --------------------------------------------------------------------------------------


def send_message(*, caller: Caller, text: str = "", **rest: Unpack[MessageArguments]) -> SendAnswer:
    """Send a message to some agents, or to everyone in the project.

    A reply (`reply_to`) joins the thread of the message it answers; without `to` it goes to that message's
    sender, or, if the caller sent it, to its recipients. It takes one of the `choices` of that message by
    `choice`, which is its text if there is none, or by a text that is one of them. `ack_within` ("2h")
    implies `ack`. Raises NotFound for an unknown `reply_to`, and InvalidInput for a `choice` that was not
    offered. `unknown` in the answer lists names that no agent of the project has had; the message is
    delivered to them all the same.
    """
    require_answerer(caller, operation("message send"))
    known = find_known_names(caller.project_id, rest.get("to") or ())
    fields = clean_message(caller, text=text, known=known, **rest)
    return send_checked(caller, fields)


def send_checked(caller: Caller, fields: MessageFields) -> SendAnswer:
    """Send a message whose fields were checked, or made by the hub itself."""
    return write_one(caller, partial(_prepare, caller, [fields]), _write)


def send_message_batch(*, caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
    """Send up to 50 messages in a number of statements that does not grow with them.

    An item is the arguments of `send_message`, or the error with which REST or MCP has refused it already.
    `atomic`: all or nothing, the error names the `index`; otherwise valid items are sent, and each result
    is an answer or an error.
    """
    recipients = (name for item in items if isinstance(item, Mapping) for name in item.get("to") or ())
    clean = partial(clean_message, known=find_known_names(caller.project_id, recipients))
    return write_batch(
        caller, items, clean=clean, prepare=_prepare, write=_write, answer=_as_mapping, atomic=atomic
    )


def tell_agents(*, caller: Caller, items: Sequence[Mapping[str, Any]]) -> list[int]:
    """Send what the hub writes in an agent's name, in the write transaction that is open; returns the ids.

    An item is the arguments of `send_message`; each name in `to` is one agent. Raises the first error, which
    ends the transaction: there is no savepoint.
    """
    fields = [clean_message(caller, **item) for item in items]
    sent = []
    for outcome in _write(caller, _prepare(caller, fields)):
        if isinstance(outcome, CtxhubError):
            raise outcome
        sent.append(outcome["id"])
    return sent


# -- Pieces ----------------------------------------------------------------------------------------


@frozen
class Draft:
    """Messages as they will be sent, or why one is not, and what they meet.

    Their times, and the id of a sender that was never seen, follow under the lock.

    `known`: id and spelling of the agents that are named and were seen, the sender's among them, by
    case-folded name. `answered`: the messages that they answer, by id.
    """

    outcomes: Sequence[MessageRow | CtxhubError]
    known: Mapping[str, tuple[int, str]]
    answered: Mapping[int, MessageRow]
    persons: Collection[str]


def _prepare(caller: Caller, items: Sequence[MessageFields]) -> Draft:
    """Read what the messages meet, and make their rows. Writes nothing."""
    replied = [fields.reply_to for fields in items if fields.reply_to]
    answered = MESSAGES.read(caller.project_id, list(dict.fromkeys(replied)))
    is_for_people = any(fields.to_people for fields in items) or any(
        row.to_people for row in answered.values()
    )
    people = people_of(caller.project_id) if is_for_people else []
    checked = [_checked(caller, fields, answered, people) for fields in items]
    addressed = [
        fields if isinstance(fields, CtxhubError) else _addressed(fields, answered, caller.agent)
        for fields in checked
    ]
    named = [name for to in addressed if isinstance(to, Recipients) for name in to.to or ()]
    known = known_agents(caller.project_id, [caller.agent, *named])
    sender = known.get(caller.agent.casefold(), (0, caller.agent))
    at = clock.now()
    outcomes: list[MessageRow | CtxhubError] = []
    for fields, to in zip(checked, addressed, strict=True):
        if isinstance(fields, CtxhubError):
            outcomes.append(fields)
        elif isinstance(to, Recipients):
            recipients = to.spelled(known).with_people(people, sender[1])
            outcomes.append(_new_message(fields, answered, sender, recipients, at))
    HISTORY.prepare([HISTORY.change(None, row) for row in outcomes if isinstance(row, MessageRow)])
    is_unknown = may_read() and any(name.casefold() not in known for name in named)
    persons = find_names_of_people(caller.project_id) if is_unknown else frozenset()
    return Draft(outcomes, known, answered, persons)


def _checked(
    caller: Caller, fields: MessageFields, answered: Mapping[int, MessageRow], people: Sequence[str]
) -> MessageFields | CtxhubError:
    """The fields of a reply with the choice that it takes, or why it cannot be sent."""
    own = caller.agent
    if not caller.may(WRITE) and (fields.reply_to is None or fields.to is not None or fields.to_people):
        return _only_answers(caller)
    if fields.to_people and not fields.to and {*map(str.casefold, people)} <= {own.casefold()}:
        hint = f"{operation('hub agents')} lists who is here."
        return InvalidInput("to: this project has no people but you.", hint=hint)
    if fields.reply_to is None:
        return fields
    if (question := answered.get(fields.reply_to)) is None:
        return unknown_message(fields.reply_to)
    if not caller.may(WRITE) and not names(question, own):
        return _only_answers(caller)
    try:
        taken = _choice_taken(fields, question, own)
    except InvalidInput as error:
        return error
    if taken and is_taken_by_another(question, own):
        return already_answered(question)
    return replace(fields, choice=taken)


def _choice_taken(fields: MessageFields, question: MessageRow, own: str) -> str:
    """Raises InvalidInput for a choice that is none, or by who asks."""
    if question.sender.casefold() != own.casefold():
        return choice_taken(fields.choice, fields.text, question.choices)
    if fields.choice is not None:
        hint = "A choice is taken by who was asked."
        raise InvalidInput(f"choice: message {question.id} is your own.", hint=hint)
    return ""


def _only_answers(caller: Caller) -> NotAllowed:
    return NotAllowed(
        f"{operation('message send')} needs the scope 'write', but for answers to what is addressed to you; "
        f"yours: {', '.join(sorted(caller.scopes))}.",
        hint="Reply, with `reply_to` and without `to`, to a message to your name or to @people.",
    )


def _write(caller: Caller, draft: Draft) -> list[Outcome]:
    """Write the messages. Their times differ by a microsecond, so that an inbox keeps their order."""
    at = clock.now()
    if not any(isinstance(row, MessageRow) for row in draft.outcomes):
        return [error for error in draft.outcomes if isinstance(error, CtxhubError)]
    known = dict(draft.known)
    if caller.agent.casefold() not in known:
        known[caller.agent.casefold()] = register_agent(caller, at), caller.agent
    agent_id, _ = known[caller.agent.casefold()]
    drafts = [row for row in draft.outcomes if isinstance(row, MessageRow)]
    new = [_sent(row, agent_id, at + timedelta(microseconds=n)) for n, row in enumerate(drafts)]
    rows = MESSAGES.insert(caller.project_id, new)
    changes = [HISTORY.change(None, row) for row in rows]
    HISTORY.record(project_id=caller.project_id, agent_id=agent_id, changes=changes, at=at)
    for row in rows:
        if row.reply_to_id:
            take(caller, agent_id, draft.answered[row.reply_to_id])
    written = iter(rows)
    return [
        _answer(next(written), known, draft.persons) if isinstance(outcome, MessageRow) else outcome
        for outcome in draft.outcomes
    ]


def _sent(row: MessageRow, agent_id: int, at: datetime) -> MessageRow:
    due = at + (row.ack_due_at - row.created_at) if row.ack_due_at else None
    return replace(row, sender_id=agent_id, created_at=at, ack_due_at=due)


class Recipients(NamedTuple):
    """`to`: names, None for everyone; `people`: the others, if it goes to the people."""

    to: Sequence[str] | None
    to_people: bool = False
    people: Sequence[str] = ()

    def spelled(self, known: Mapping[str, tuple[int, str]]) -> "Recipients":
        if self.to is None:
            return self
        return self._replace(to=[known.get(name.casefold(), (0, name))[1] for name in self.to])

    def with_people(self, names: Sequence[str], sender: str) -> "Recipients":
        if not self.to_people:
            return self
        named = {name.casefold() for name in (sender, *(self.to or ()))}
        return self._replace(people=[name for name in names if name.casefold() not in named])


def _addressed(fields: MessageFields, answered: Mapping[int, MessageRow], own: str) -> Recipients:
    """The recipients given, or those that follow from the message it answers."""
    if fields.to_people:
        return Recipients(fields.to or (), to_people=True)
    if fields.to is not None or fields.reply_to is None:
        return Recipients(fields.to or None)
    earlier = answered[fields.reply_to]
    if earlier.sender.casefold() != own.casefold():
        return Recipients([earlier.sender])
    return Recipients(earlier.to, earlier.to_people)


def _new_message(
    fields: MessageFields,
    answered: Mapping[int, MessageRow],
    sender: tuple[int, str],
    recipients: Recipients,
    at: datetime,
) -> MessageRow:
    is_request = fields.type == MessageType.REQUEST
    return MessageRow(
        sender_id=sender[0],
        sender=sender[1],
        to=recipients.to,
        people=recipients.people,
        to_everyone=recipients.to is None,
        to_people=recipients.to_people,
        type=fields.type.value,
        state=(RequestState.OPEN if is_request else RequestState.NONE).value,
        priority=fields.priority.value,
        text=fields.text,
        payload=fields.payload,
        choices=fields.choices,
        choice=fields.choice or "",
        thread_id=answered[fields.reply_to].thread if fields.reply_to else fields.thread,
        reply_to_id=fields.reply_to,
        ack=fields.ack,
        ack_due_at=at + fields.ack_within if fields.ack_within else None,
        created_at=at,
    )


def _answer(row: MessageRow, known: Collection[str], persons: Collection[str]) -> SendAnswer:
    answer = SendAnswer(id=row.id, thread=row.thread, to=row.named_to)
    unknown = [name for name in row.to or () if name.casefold() not in known] if may_read() else []
    if strangers := [name for name in unknown if name_key(name) not in persons]:
        answer["unknown"] = strangers
    return answer


def _as_mapping(answer: SendAnswer) -> Mapping[str, Any]:
    return {**answer}


MARKED_AT_ONCE = 2_000


class ReadAnswer(TypedDict):
    marked: Annotated[int, About("How many were unread.")]


class AckAnswer(TypedDict):
    acked: Annotated[int, About("How many were not acknowledged before.")]
    hint: NotRequired[str]


def read_messages_of(
    *, caller: Caller, ids: Sequence[int] | None = None, everything: bool = False
) -> ReadAnswer:
    """Mark messages to the caller's agent as read, these or all. Returns how many were unread.

    Messages to others are neither counted nor changed.
    """
    require_answerer(caller, operation("message read"))
    if everything == (ids is not None):
        raise InvalidInput("Give ids, or all: true.", missing=[] if everything else ["ids"])
    wanted = None if ids is None else clean_ids(ids)
    folded = caller.agent.casefold()
    marked = 0
    while True:
        with write_transaction(caller.project_id):
            at = clock.now()
            register_agent(caller, at)
            if wanted is not None:
                return {"marked": mark_read(caller.project_id, folded, wanted, at)}
            count = mark_some_read(caller.project_id, folded, at, MARKED_AT_ONCE)
        marked += count
        if count < MARKED_AT_ONCE:
            return {"marked": marked}


def acknowledge_messages(*, caller: Caller, ids: Sequence[int]) -> AckAnswer:
    """Acknowledge messages to the caller's agent. Returns how many it had not acknowledged before.

    Also marks them as read. Messages that ask for no acknowledgement are only marked as read, and the hint
    names them. Raises NotFound, with nothing written, if one is not addressed to the agent.
    """
    require_answerer(caller, operation("message ack"))
    wanted = clean_ids(ids)
    folded = caller.agent.casefold()
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        addressed = addressed_to(caller.project_id, folded, wanted)
        if others := [message_id for message_id in wanted if message_id not in addressed]:
            raise not_addressed(caller, others)
        found = MESSAGES.read(caller.project_id, wanted)
        without_ack = [message_id for message_id in wanted if not found[message_id].ack]
        if without_ack:
            mark_read(caller.project_id, folded, without_ack, at)
        with_ack = [message_id for message_id in wanted if found[message_id].ack]
        acked = mark_acked(caller.project_id, folded, with_ack, at) if with_ack else []
        for message_id in acked:
            take(caller, agent_id, found[message_id])
        changes = [(message_id, "acked", {"to": [found[message_id].sender]}) for message_id in acked]
        record_changes(project_id=caller.project_id, agent_id=agent_id, changes=changes, at=at)
    answer = AckAnswer(acked=len(acked))
    if without_ack:
        answer["hint"] = f"{_list_ids(without_ack)} asked for no acknowledgement; marked as read."
    return answer


def not_addressed(caller: Caller, ids: Sequence[int]) -> NotFound:
    return NotFound(
        f"{_list_ids(ids)}: not addressed to {caller.agent!r}, or not there.",
        hint=f"{operation('message inbox')} with unread false shows what is addressed to you.",
    )


def _list_ids(ids: Sequence[int]) -> str:
    return f"message {', '.join(map(str, ids[:10]))}{' and more' if len(ids) > 10 else ''}"
