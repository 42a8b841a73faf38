"""Reminds an agent of the acknowledgements that it owes: a message like any other."""

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from messaging.models.delivery import URGENT
from messaging.selectors.needs import REMINDS_OF, find_reminders
from messaging.services.messages import send_message
from messaging.sql.needs import overdue_of

NAMED = 20


def remind_agent(*, caller: Caller, agent: str) -> bool:
    """Ask an agent for its overdue acknowledgements, in a reply to the most urgent message.

    It is urgent, so that every answer to the agent counts it. Returns False, with nothing sent, if it was
    reminded of that message within the last hour. Raises NotFound if the agent owes none.
    """
    with write_transaction(caller.project_id):
        owed = overdue_of(caller.project_id, agent.casefold(), NAMED)
        if not owed:
            raise NotFound(f"{agent!r} owes no overdue acknowledgement.")
        first, priority = owed[0]
        if find_reminders([caller.project_id], [first]).get((first, agent.casefold())):
            return False
        ids = [message_id for message_id, _ in owed]
        refs = ", ".join(f"message:{message_id}" for message_id in ids)
        send_message(
            caller=caller,
            text=f"Your acknowledgement is overdue: {refs}. {operation('message ack')} with ids {ids}.",
            to=[agent],
            reply_to=first,
            priority=max(priority, Priority(URGENT).value),
            payload={REMINDS_OF: ids},
        )
        return True
