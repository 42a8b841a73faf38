"""Event streams: what one sends, and to whom. ctxhub/mcp/event_streams.py sends it.

A request does not stream: it declares in its `Opening` what it wants to follow, and answers the beginning of
the stream as usual. The event loop that runs the request goes on from there, without a thread or a database
connection. Without an `Opening`, as under WSGI, there is nothing that could go on.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from ctxhub.core import registry
from ctxhub.core.accounts.listeners import Listener
from ctxhub.core.events.log import (
    VERBS,
    VERBS_OF_ACTION,
    NewEvent,
    clean_agents,
    concerns,
    id_of,
    is_new_to,
    latest_cursor,
    note_of,
    verbs_meant,
)
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import EventCursor, format_time
from ctxhub.core.kit.errors import InvalidInput, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_moment, clean_words

RETRY_MILLISECONDS = 2_000
MOST_REPLAYED = 10_000
LAST_ID = "Last-Event-ID"

# Nouns of the log that nothing else is registered for.
_MORE_NOUNS = ("config",)
# Their events are the hub's, which streams leave out.
_OF_THE_HUB = ("webhook",)
_NO_STREAM = "Event streams need an ASGI server, such as manage.py serve; this one is WSGI."
_INSTEAD = "Ask updates/ again and again instead, with its cursor as since."


@frozen
class Told:
    """An event, and its frame, made once for all streams."""

    event: NewEvent
    frame: bytes

    @classmethod
    def of(cls, event: NewEvent) -> "Told":
        data = {
            "at": format_time(sql.read_time(event.at)),
            "agent": event.name or "system",
            "verb": event.verb,
            "ref": event.ref,
            "note": note_of(dict(event.data)),
        }
        # A ref may hold U+2028, which ends no line here; JSON escapes line feeds.
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return cls(event, f"id: e{event.id}\nevent: {event.noun}.{event.verb}\ndata: {text}\n\n".encode())


class Follow(Protocol):
    """What a stream sends: the events of projects after these ids.

    `newest`: the newest ids when the stream was opened; events up to these are replayed, at most
    `most_replayed` of them.
    """

    @property
    def listener(self) -> Listener: ...
    @property
    def after(self) -> Mapping[int, int]: ...
    @property
    def newest(self) -> Mapping[int, int]: ...
    @property
    def most_replayed(self) -> int: ...

    def beginning(self) -> bytes: ...

    def frames(self, events: Iterable[Told]) -> Iterator[bytes]: ...

    def reset(self, event_id: int) -> bytes:
        """What a reader is told that may have missed events: from where the stream goes on."""

    def comment(self, event_id: int | None) -> bytes:
        """What is sent while nothing happens; with the id of the last event that the reader need not hear."""

    def ending(self) -> bytes:
        """What is sent last, where it is the hub that ends the stream."""


class _ServerSent:
    """The frames of server-sent events that their readers follow by the ids of events."""

    def reset(self, event_id: int) -> bytes:
        return b'id: e%d\nevent: reset\ndata: {"cursor":"e%d"}\n\n' % (event_id, event_id)

    def comment(self, event_id: int | None) -> bytes:
        """An id without data moves the reader's cursor past events that it did not want."""
        return b":\n\n" if event_id is None else b":\nid: e%d\n\n" % event_id

    def ending(self) -> bytes:
        return b""


@frozen
class FollowNews(_ServerSent):
    """The events of one project that are news to `agent`, and pass the filters; empty ones let all pass."""

    listener: Listener
    agent: str
    after: Mapping[int, int]
    newest: Mapping[int, int]
    nouns: frozenset[str]
    agents: frozenset[str]
    verbs: frozenset[str]
    mine: bool
    most_replayed: int

    def beginning(self) -> bytes:
        """With an id: a reader that is cut off before the first event misses nothing either."""
        [after] = self.after.values()
        return b"retry: %d\nid: e%d\n\n" % (RETRY_MILLISECONDS, after)

    def frames(self, events: Iterable[Told]) -> Iterator[bytes]:
        return (told.frame for told in events if self.wants(told.event))

    def wants(self, event: NewEvent) -> bool:
        return (
            (not self.nouns or event.noun in self.nouns)
            and (not self.verbs or event.verb in self.verbs)
            and (not self.agents or event.agent in self.agents)
            and is_new_to(self.agent, event)
            and (not self.mine or concerns(self.agent, event))
        )


@frozen
class FollowAll(_ServerSent):
    """That anything happened in some projects: for a page that then asks what. Nothing is replayed."""

    listener: Listener
    after: Mapping[int, int]
    most_replayed: int = 0

    @property
    def newest(self) -> Mapping[int, int]:
        return self.after

    def beginning(self) -> bytes:
        return b"retry: %d\n\n" % RETRY_MILLISECONDS

    def frames(self, events: Iterable[Told]) -> Iterator[bytes]:
        if any(True for _ in events):
            yield b"event: changed\ndata: {}\n\n"


def follow_news(
    caller: Caller,
    listener: Listener,
    *,
    last_id: str = "",
    since: str | None = None,
    nouns: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    verbs: Sequence[str] | None = None,
    mine: bool = False,
) -> FollowNews:
    """Follow after `last_id` (e123), else after `since`, else from now on.

    Raises InvalidInput for nouns and verbs that no event has.
    """
    newest = latest_cursor(caller.project_id).event_id
    start = _clean_last_id(last_id) or clean_moment(since, "since")
    after = newest if start is None else id_of(caller.project_id, start)
    return FollowNews(
        listener=listener,
        agent=caller.agent.casefold(),
        after={caller.project_id: after},
        newest={caller.project_id: newest},
        nouns=frozenset(map(_known_noun, clean_words(nouns, "nouns"))),
        agents=frozenset(clean_agents(caller.project_id, agents or ())),
        verbs=frozenset(verbs_meant(map(_known_verb, clean_words(verbs, "verbs")))),
        mine=mine,
        most_replayed=MOST_REPLAYED,
    )


def _clean_last_id(value: str) -> EventCursor | None:
    if not value.strip():
        return None
    with suppress(InvalidInput):
        if isinstance(start := clean_moment(value, LAST_ID), EventCursor):
            return start
    raise InvalidInput(f"{LAST_ID}: {shown(value)} is not the id of an event, such as e123.")


def _known_noun(word: str) -> str:
    nouns = [
        noun for noun in registry.all_nouns() if not noun.earlier_states_of and noun.kind not in _OF_THE_HUB
    ]
    plurals = {noun.plural: noun.kind for noun in nouns}
    kinds = [*plurals.values(), *_MORE_NOUNS]
    noun = word.lower()
    noun = registry.OTHER_KINDS.get(noun, plurals.get(noun, noun))
    if noun not in kinds:
        raise unknown_word("nouns", word, kinds)
    return noun


def _known_verb(word: str) -> str:
    verb = word.lower()
    if verb not in VERBS and verb not in VERBS_OF_ACTION:
        raise unknown_word("verbs", word, VERBS)
    return verb


@dataclass(slots=True)
class Opening:
    """What the request that runs wants to follow."""

    follow: Follow | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        token = _opening.set(self)
        try:
            yield
        finally:
            _opening.reset(token)


_opening: ContextVar[Opening | None] = ContextVar("ctxhub_opening", default=None)


def open_stream(follow: Follow) -> None:
    """Let the answer of this request go on as a stream. Raises InvalidInput under WSGI."""
    if (opening := _opening.get()) is None:
        raise InvalidInput(_NO_STREAM, hint=_INSTEAD)
    opening.follow = follow
