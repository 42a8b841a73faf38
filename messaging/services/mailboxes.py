"""Opens a mailbox: a registered agent receives all standing messages to everyone."""

from ctxhub.core.accounts.services.agents import is_registered
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.services.names import register_agent


def open_mailbox(caller: Caller) -> None:
    """Register the caller's agent, so that messages to everyone are in its inbox at the first look.

    Takes the project's write lock: otherwise a message sent at the same moment would miss the agent.
    """
    if not is_registered(caller):
        with write_transaction(caller.project_id):
            register_agent(caller, clock.now())
