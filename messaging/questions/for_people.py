"""Messages to `@people`: the first of them who answers has it, and the others see who."""

from dataclasses import replace

from ctxhub.core.kit.caller import Caller, for_readers
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.tool_names import operation
from messaging.messages.deliveries import take_for_people
from messaging.messages.rows import MESSAGES, MessageRow


def take(caller: Caller, agent_id: int, message: MessageRow) -> None:
    """Note that the caller's agent has answered a message to the people, if it is one of them, and the first.

    In the transaction of its answer.
    """
    if not is_of_people(message, caller.agent) or message.claimed_by is not None:
        return
    MESSAGES.update(caller.project_id, message, replace(message, claimed_by_id=agent_id))
    take_for_people(caller.project_id, message.id, caller.agent.casefold())


def is_of_people(message: MessageRow, name: str) -> bool:
    return message.to_people and name.casefold() in {each.casefold() for each in message.people}


def is_taken_by_another(message: MessageRow, name: str) -> bool:
    """Whether another one of the people has answered it already. A request is taken by its claim."""
    return (
        message.to_people
        and not message.is_request
        and message.claimed_by is not None
        and message.claimed_by.casefold() != name.casefold()
        and is_of_people(message, name)
    )


def already_answered(message: MessageRow) -> Conflict:
    return for_readers(
        Conflict(
            f"message {message.id} was answered by {message.claimed_by!r}.",
            hint=f"{operation('message thread')} shows the answer.",
            current={"by": message.claimed_by},
        ),
        otherwise=f"message {message.id} was answered by another one.",
    )
