"""Marked lines of an answer, offered to the hub's memory."""

from __future__ import annotations

import re

from ctxhub_client.hooks.transcripts import read_transcript
from ctxhub_client.store import digest
from ctxhub_client.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event

MOST_CAPTURED = 10

MARKED = re.compile(r"\s*(?:[-*]\s+)?\**(Decision|Remember):\**\s*(\S.*)")


def capture(event: Event) -> None:
    """Offer the marked lines of the last answer to the hub's memory."""
    answer = text_of(event.values, "last_assistant_message", "last-assistant-message")
    for line in marked_lines(answer or last_answer(event)):
        if event.is_new("captured", digest(line)):
            event.hub.post("memories/capture/", {"content": line})


def last_answer(event: Event) -> str:
    texts = read_transcript(text_of(event.values, "transcript_path"))
    said = [text for role, text in texts if role == "assistant"]
    return said[-1] if said else ""


def marked_lines(answer: str) -> list[str]:
    """Lines that begin with `Decision:` or `Remember:`, outside of code; ten at most."""
    found: list[str] = []
    is_code = False
    for line in answer.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and (match := MARKED.match(line)):
            found.append("{}: {}".format(match[1], match[2].strip()[:2_000]))
    return found[:MOST_CAPTURED]
