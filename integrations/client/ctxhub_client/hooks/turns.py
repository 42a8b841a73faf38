"""Turns of Codex, where it notifies a program instead of running hooks."""

from __future__ import annotations

from ctxhub_client.hooks.captures import capture
from ctxhub_client.hooks.conversations import save
from ctxhub_client.hooks.event import Event
from ctxhub_client.hooks.transcripts import newest
from ctxhub_client.settings import is_capturing
from ctxhub_client.values import read_json, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json


def run_notification(text: str) -> None:
    save_turn(read_json(text.encode("utf-8", "replace")))


def save_turn(values: Json) -> None:
    if text_of(values, "type") != "agent-turn-complete":
        return
    event = Event(values, "codex")
    asked = values.get("input-messages")
    texts = [("user", text) for text in asked if isinstance(text, str)] if isinstance(asked, list) else []
    if said := text_of(values, "last-assistant-message"):
        texts.append(("assistant", said))
    save(event, newest(reversed(texts)))
    if is_capturing():
        capture(event)
