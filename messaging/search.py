"""Search documents of messages."""

from collections.abc import Iterator, Sequence

from ctxhub.core.search.documents import Document
from ctxhub.core.text.readable import as_lines
from messaging.rows import MessageRow

NAMES_IN_TITLE = 4


def message_document(message: MessageRow) -> Document:
    return Document(
        object_id=message.id,
        ref=f"message:{message.id}",
        title=f"{message.sender} to {_recipients(message.to)}",
        body="\n\n".join(_lines(message)),
        at=message.created_at,
        agent_id=message.sender_id,
        readable=(0, len(message.text)),
    )


def _recipients(to: Sequence[str] | None) -> str:
    if to is None:
        return "everyone"
    more = len(to) - NAMES_IN_TITLE
    return ", ".join(_sorted(to)[:NAMES_IN_TITLE]) + (f" and {more} more" if more > 0 else "")


def _lines(message: MessageRow) -> Iterator[str]:
    yield message.text
    yield from as_lines(message.payload)
    if message.to and (others := _sorted(message.to)[NAMES_IN_TITLE:]):
        yield f"to {', '.join(others)}"


def _sorted(names: Sequence[str]) -> list[str]:
    return sorted(names, key=str.casefold)
