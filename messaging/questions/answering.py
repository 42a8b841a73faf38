"""Who may answer without the scope to write: a signed-in person who may read, what is addressed to them."""

from ctxhub.core.kit.caller import WRITE, Caller
from messaging.messages.rows import MessageRow


def require_answerer(caller: Caller, doing: str) -> None:
    """Raise NotAllowed unless the caller may write, or answer at least."""
    if not may_answer(caller):
        caller.require(WRITE, doing)


def may_answer(caller: Caller) -> bool:
    return caller.may(WRITE) or caller.is_reader


def names(message: MessageRow, name: str) -> bool:
    """Whether a message is addressed to this name, or to the people, of whom it is one."""
    return name.casefold() in {each.casefold() for each in (*(message.to or ()), *message.people)}
