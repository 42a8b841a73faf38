"""Tells who asked for something that it is done: by a message, once, since a request is done once."""

from collections.abc import Sequence

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.priority import Priority
from ctxhub.core.text.secrets import find_secret
from ctxhub.core.text.sentences import in_one_line, shortened
from messaging.inputs import MessageFields
from messaging.models import MessageType
from messaging.rows import MessageRow
from messaging.services.messages import send_checked

TEXT_CHARACTERS = 80
REF_CHARACTERS = 120
REFS_SHOWN = 5


def tell_asker(caller: Caller, request: MessageRow, refs: Sequence[str]) -> None:
    """Write into the thread of a request that the caller's agent has just done, in the same transaction.

    As urgent as the request is. No reply: it would stand among what the request led to, beside the results.
    The caller is never who asked: nobody takes an own request.
    """
    send_checked(
        caller,
        MessageFields(
            text=_text(request, refs),
            to=[request.sender],
            type=MessageType.INFO,
            priority=Priority(request.priority),
            payload={"done": f"message:{request.id}"},
            reply_to=None,
            thread=request.thread,
        ),
    )


def _text(request: MessageRow, refs: Sequence[str]) -> str:
    # A message that holds a credential may have to be deleted, with all that it says.
    asked = "" if find_secret(request.text) else f": {_cut(request.text, TEXT_CHARACTERS)}"
    results = [_cut(ref, REF_CHARACTERS) for ref in refs[:REFS_SHOWN]]
    more = f" and {len(refs) - REFS_SHOWN} more" if len(refs) > REFS_SHOWN else ""
    result = f"\nResult: {', '.join(results)}{more}" if refs else ""
    return f"Your request message:{request.id} is done{asked}{result}"


def _cut(text: str, characters: int) -> str:
    line = in_one_line(text)
    return line if len(line) <= characters else shortened(line, characters)
