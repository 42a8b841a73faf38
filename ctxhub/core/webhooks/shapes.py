"""The bodies that receivers take: JSON for programs, sentences for chats."""

import json
import re
from collections.abc import Mapping
from typing import Any

from ctxhub.core.events.log import note_of
from ctxhub.core.events.words import action_word, kind_word
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import counted, plural
from ctxhub.core.webhooks.letters import Letter, Summary
from ctxhub.core.webhooks.models import WebhookKind

LONGEST_PART = 400
KINDS_SHOWN = 6

# Where people say it otherwise than the log does.
_VERBS = {
    ("decision", "created"): "set",
    ("decision", "updated"): "set",
    ("change", "created"): "created",
    ("change", "modified"): "changed",
    ("change", "deleted"): "deleted",
    ("message", "done"): "finished",
    ("lease", "force_released"): "released by force",
}
# What happens by itself: the object comes first.
_BY_ITSELF = {
    "overdue": "is overdue",
    "escalated": "waits for somebody",
    "switched_off": "was switched off",
    "cleaned": "was cleaned up",
}
_TEST = ("hub", "tested")


@frozen
class Sentence:
    """`before` and `after` surround the `name` of an object, which `link` opens, if it is not "".

    All of it is plain text on one line: a shape escapes it.
    """

    before: str
    name: str
    after: str
    link: str = ""


def sentence_of(letter: Letter | Summary) -> Sentence:
    if isinstance(letter, Summary):
        return _of_many(letter)
    if (letter.noun, letter.verb) == _TEST:
        return Sentence("A test: ", letter.project, " reaches you here.", letter.link)
    name = _one_line(_named(letter))
    where = f" · {letter.project}"
    if letter.verb in _BY_ITSELF:
        after = f" {_BY_ITSELF[letter.verb]}{_detail(letter)}{where}"
        return Sentence(_again(letter), name, after, letter.link)
    verb = _VERBS.get((letter.noun, letter.verb)) or action_word(letter.verb)
    after = f"{_addressed(letter.data)}{_version(letter.data)}{_detail(letter)}{where}"
    return Sentence(f"{_again(letter)}{_one_line(letter.agent)} {verb} ", name, after, letter.link)


def _of_many(summary: Summary) -> Sentence:
    kinds: dict[str, int] = {}
    for (noun, _), count in summary.counts.items():
        kinds[noun] = kinds.get(noun, 0) + count
    most = sorted(kinds.items(), key=lambda pair: -pair[1])
    shown = ", ".join(counted(count, plural(kind_word(noun))) for noun, count in most[:KINDS_SHOWN])
    more = ", and others" if len(most) > KINDS_SHOWN else ""
    return Sentence(
        _again(summary),
        counted(summary.events, "events"),
        f" since {format_time(summary.since)}: {shown}{more} · {summary.project}",
        summary.link,
    )


def _again(letter: Letter | Summary) -> str:
    return "Sent again: " if letter.is_again else ""


def _named(letter: Letter) -> str:
    """`decision api/auth/method`, `message 9`."""
    kind, _, name = letter.ref.partition(":")
    return f"{kind_word(kind)} {name}" if name else letter.ref


def _addressed(data: Mapping[str, Any]) -> str:
    to = [str(name) for name in data.get("to") or ()]
    return f" to {', '.join(to[:5])}{' and others' if len(to) > 5 else ''}" if to else ""


def _version(data: Mapping[str, Any]) -> str:
    return f" to version {data['version']}" if data.get("version") and "was" in data else ""


def _detail(letter: Letter) -> str:
    rest = {name: value for name, value in letter.data.items() if name not in ("was", "version")}
    detail = _one_line(note_of(rest))
    urgent = f" ({priority})" if (priority := letter.data.get("priority")) in ("high", "critical") else ""
    return f"{urgent}: {detail}" if detail else urgent


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_PART else f"{line[:LONGEST_PART].rstrip()}…"


def message_for_slack(sentence: Sentence) -> dict[str, Any]:
    name = _escaped_for_slack(sentence.name)
    shown = f"<{sentence.link}|{name.replace('|', '¦')}>" if sentence.link else name
    text = f"{_escaped_for_slack(sentence.before)}{shown}{_escaped_for_slack(sentence.after)}"
    return {"text": text, "unfurl_links": False, "unfurl_media": False}


def _escaped_for_slack(text: str) -> str:
    """Without them nobody is mentioned (`<!channel>`), and nothing is a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


LONGEST = 2_000  # Libraries differ in what Discord counts: units of UTF-16 are the most.
SUPPRESS_EMBEDS = 4
_MARKUP = re.compile(r"([\\*_~`|>#\[\]()<:@-])")


def message_for_discord(sentence: Sentence) -> dict[str, Any]:
    """The link in angle brackets shows no preview; nobody is mentioned."""
    name = _escaped_for_discord(sentence.name)
    shown = f"[{name}](<{sentence.link}>)" if sentence.link else f"**{name}**"
    content = f"{_escaped_for_discord(sentence.before)}{shown}{_escaped_for_discord(sentence.after)}"
    return {
        "content": _cut(content),
        "flags": SUPPRESS_EMBEDS,
        "allowed_mentions": {"parse": []},
    }


def _cut(content: str) -> str:
    units = content.encode("utf-16-le", errors="replace")
    if len(units) <= 2 * LONGEST:
        return content
    kept = units[: 2 * (LONGEST - 1)].decode("utf-16-le", errors="ignore")
    return f"{kept.rstrip(chr(92))}…"


def _escaped_for_discord(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


CARD = "application/vnd.microsoft.card.adaptive"
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"


def message_for_teams(sentence: Sentence) -> dict[str, Any]:
    """In runs of text, in which nothing is markup."""
    name: dict[str, Any] = {"type": "TextRun", "text": sentence.name, "weight": "Bolder"}
    if sentence.link:
        name["selectAction"] = {"type": "Action.OpenUrl", "url": sentence.link}
    inlines = [
        {"type": "TextRun", "text": sentence.before},
        name,
        {"type": "TextRun", "text": sentence.after},
    ]
    card = {
        "$schema": SCHEMA,
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": [run for run in inlines if run["text"]]}],
    }
    return {
        "type": "message",
        "attachments": [{"contentType": CARD, "contentUrl": None, "content": card}],
    }


_CHATS = {
    WebhookKind.SLACK: message_for_slack,
    WebhookKind.TEAMS: message_for_teams,
    WebhookKind.DISCORD: message_for_discord,
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
