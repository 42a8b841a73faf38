"""Receipts: marks messages as read or acknowledged, for each recipient separately."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.toolbox.argument_types import About
from ctxhub.core.vocabulary.services.names import register_agent
from messaging.history import record_changes
from messaging.inputs import clean_ids
from messaging.rows import MESSAGES
from messaging.sql.deliveries import addressed_to, mark_acked, mark_read, mark_some_read

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
