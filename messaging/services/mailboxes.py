"""Opens a mailbox: a registered agent receives all standing messages to everyone."""

from ctxhub.core.accounts.services.agents import is_registered, register_without_waiting
from ctxhub.core.kit.caller import Caller


def open_mailbox(caller: Caller) -> bool:
    """Register the caller's agent, so that messages to everyone are in its inbox at the first look.

    Takes the project's write lock, or else a message sent at the same moment would miss the agent. Waits for
    nobody: False while others write, and the agent is registered after the answer.
    """
    return is_registered(caller) or register_without_waiting(caller)
