"""What messages are found by."""

from collections.abc import Iterator, Sequence

from ctxhub.core.kit.models import NamedRow
from ctxhub.core.models import Agent
from ctxhub.core.search.documents import Document
from ctxhub.core.search.words_shown import Fields, ids_showing
from ctxhub.core.text.readable import as_lines
from messaging.models import Message
from messaging.rows import Said, read_messages

SHOWN: Fields = {Agent: "sender"}
NAMES_IN_TITLE = 4


def message_document(said: Said) -> Document:
    return Document(
        object_id=said.id,
        ref=f"message:{said.id}",
        title=f"{said.sender} to {_recipients(said.to)}",
        body="\n\n".join(_lines(said)),
        at=said.at,
        agent_id=said.sender_id,
    )


def read_message_documents(project_id: int, ids: Sequence[int]) -> list[Document]:
    return [message_document(row) for row in read_messages(project_id, ids).values()]


def messages_showing(word: NamedRow) -> list[int]:
    return ids_showing(Message, word, SHOWN)


def _recipients(to: Sequence[str] | None) -> str:
    if to is None:
        return "everyone"
    more = len(to) - NAMES_IN_TITLE
    return ", ".join(_sorted(to)[:NAMES_IN_TITLE]) + (f" and {more} more" if more > 0 else "")


def _lines(said: Said) -> Iterator[str]:
    yield said.text
    yield from as_lines(said.payload)
    if said.to and (others := _sorted(said.to)[NAMES_IN_TITLE:]):
        yield f"to {', '.join(others)}"


def _sorted(names: Sequence[str]) -> list[str]:
    return sorted(names, key=str.casefold)
