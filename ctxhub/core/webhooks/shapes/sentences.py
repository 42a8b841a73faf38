"""Says an event in a sentence: who did what to which object."""

from collections.abc import Mapping
from typing import Any

from ctxhub.core.events.log import note_of
from ctxhub.core.events.words import action_word, kind_word
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import counted, plural
from ctxhub.core.webhooks.rules.letters import Letter, Summary

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
