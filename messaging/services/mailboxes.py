"""A mailbox: an agent's own as soon as it is known, with all that stands there for everyone."""

from ctxhub.core.accounts.services.agents import find_agent
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.services.names import register_agent


def open_mailbox(caller: Caller) -> None:
    """Make the caller's agent known, so that what was said to everyone is there when it first looks.

    It takes the project's turn: else a message sent in the same moment would not know the agent, nor it the
    message.
    """
    if find_agent(caller.project_id, caller.agent) is None:
        with write_transaction(caller.project_id):
            register_agent(caller, clock.now())
