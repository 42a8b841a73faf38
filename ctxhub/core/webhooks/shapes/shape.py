"""Chooses the shape of a body by the kind of the webhook."""

import json
from typing import Any

from ctxhub.core.kit.clock import format_time
from ctxhub.core.webhooks.models import WebhookKind
from ctxhub.core.webhooks.rules.letters import Letter, Summary
from ctxhub.core.webhooks.shapes import discord, slack, teams
from ctxhub.core.webhooks.shapes.sentences import sentence_of

_CHATS = {
    WebhookKind.SLACK: slack.message,
    WebhookKind.TEAMS: teams.message,
    WebhookKind.DISCORD: discord.message,
}


def is_chat(kind: int) -> bool:
    return kind in _CHATS


def body_of(kind: int, letter: Letter | Summary) -> bytes:
    shape = _CHATS[WebhookKind(kind)](sentence_of(letter)) if is_chat(kind) else _event(letter)
    return json.dumps(shape, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _event(letter: Letter | Summary) -> dict[str, Any]:
    if isinstance(letter, Summary):
        return _summary(letter)
    return {
        "id": letter.id,
        "at": format_time(letter.at),
        "project": letter.project,
        "noun": letter.noun,
        "verb": letter.verb,
        "ref": letter.ref,
        "agent": letter.agent,
        "note": letter.note,
        **({"redelivered": True} if letter.is_again else {}),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    """Programs are told each event, but for a summary that was made while the webhook was a chat's."""
    sentence = sentence_of(summary)
    return {
        "id": summary.id,
        "at": format_time(summary.since),
        "project": summary.project,
        "noun": "hub",
        "verb": "summary",
        "ref": "hub:summary",
        "agent": "system",
        "note": f"{sentence.name}{sentence.after}",
        **({"redelivered": True} if summary.is_again else {}),
    }
