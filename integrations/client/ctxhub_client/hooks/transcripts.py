"""What user and agent wrote, from the transcripts of clients."""

from __future__ import annotations

import os

from ctxhub_client.process import remaining_seconds
from ctxhub_client.values import dict_of, read_json, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Iterator

CONVERSATION_BYTES = 200_000

# Of Claude Code, and of Codex. Other entries repeat texts, and hold what the client tells the model.
ENTRY_KINDS = ("user", "assistant", "response_item")

TEXT_KINDS = ("text", "input_text", "output_text")

# What clients put into a conversation themselves.
OWN_TEXTS = ("<command-", "<local-command", "<environment_context", "<user_instructions", "# AGENTS.md")

READ_BYTES = 1 << 20

MOST_READ_BYTES = 32 << 20


def read_transcript(path: str) -> list[tuple[str, str]]:
    """The newest texts of user and assistant, oldest first, 200 KB at most: (role, text)."""
    if not path or not os.path.isfile(path):
        return []
    return newest(text for line in lines_from_end(path) for text in texts_of(line))


def newest(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first texts of those given newest first, in the order of time, up to the limit."""
    found: list[tuple[str, str]] = []
    left = CONVERSATION_BYTES
    for role, text in texts:
        left -= len(role) + 4
        data = text.encode("utf-8", "replace")
        if left <= 0:
            break
        found.append((role, data[-left:].decode("utf-8", "ignore")))
        left -= len(data)
    return found[::-1]


def lines_from_end(path: str) -> Iterator[bytes]:
    """The lines of a file, the last first; of long files only the last 32 MB."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        stop_at = max(0, end - MOST_READ_BYTES)
        rest = b""
        while end > stop_at and remaining_seconds() > 1.0:
            start = max(stop_at, end - READ_BYTES)
            file.seek(start)
            first, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from reversed(lines)
            rest, end = first, start
        if end == 0:
            yield rest


def texts_of(line: bytes) -> list[tuple[str, str]]:
    """The texts of one entry of a transcript, the last first; none of tools, side chains and the client."""
    if not (b'"user"' in line or b'"assistant"' in line):
        return []
    entry = read_json(line)
    if text_of(entry, "type") not in ENTRY_KINDS or any(
        entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary")
    ):
        return []
    message = dict_of(entry, "message") or dict_of(entry, "payload")
    role, content = text_of(message, "role"), message.get("content")
    if role not in ("user", "assistant"):
        return []
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [
        text_of(block, "text").strip()
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") in TEXT_KINDS
    ]
    return [(role, text) for text in reversed(texts) if text and not text.startswith(OWN_TEXTS)]
