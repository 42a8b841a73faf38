"""What an agent was given: a signal for each answer that opens things by name, or briefs an agent."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.dispatch import Signal

from ctxhub.core.hub.partial_reads import Excerpt, Opened
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import ObjectKey
from ctxhub.core.registry import find_noun, split_ref

AnswerT = TypeVar("AnswerT")

# Sent after the answer is known. Argument: answer, a GivenAnswer.
given = Signal()

LATELY = timedelta(hours=1)

GivenReader = Callable[[Caller, Collection[ObjectKey], datetime], Collection[ObjectKey]]
"""Reads which of some objects the caller's agent was given since a time. The sessions app registers it."""

_readers: list[GivenReader] = []


@frozen
class GivenItem:
    """A thing in an answer: `name` is the part of its ref after the colon, `version` that of what was read.

    `version` is "" for kinds without versions; `detail`: digest, part, or the section of a brief.
    """

    kind: str
    name: str
    version: str = ""
    detail: str = ""


@frozen
class GivenAnswer:
    """`via`: get, brief, why, load, restore. `answer`, or what returns it: for counting its tokens later."""

    caller: Caller
    via: str
    items: Sequence[GivenItem]
    answer: Any
    at: datetime


def register_reader(reader: GivenReader) -> None:
    _readers[:] = [reader]


def given_lately(caller: Caller, keys: Collection[ObjectKey]) -> Collection[ObjectKey]:
    """Those of the objects that the caller's agent was given in the last hour, as far as that is recorded."""
    return _readers[0](caller, keys, clock.now() - LATELY) if keys and _readers else ()


def give(caller: Caller, via: str, items: Sequence[GivenItem], answer: Any) -> None:
    """Tell the receivers what the caller's agent is given."""
    if items:
        given.send(None, answer=GivenAnswer(caller, via, items, answer, clock.now()))


def give_opened(caller: Caller, objects: Sequence[Opened | Excerpt], answer: Any) -> None:
    """Tell what an answer opens; objects without a kind are parts of things, such as earlier versions."""
    give(caller, "get", [_item(opened) for opened in objects if opened.kind], answer)


def give_ref(caller: Caller, via: str, ref: str, answer: AnswerT) -> AnswerT:
    """Tell that an answer is about the thing with this ref; returns the answer."""
    noun, name = split_ref(ref)
    give(caller, via, [GivenItem(noun.kind, name)], answer)
    return answer


def version_of(kind: str, item: dict[str, Any]) -> str:
    """The version of an item as its noun shows it."""
    noun = find_noun(kind)
    return noun.version_of(item) if noun and noun.version_of else ""


def _item(opened: Opened | Excerpt) -> GivenItem:
    first = next(iter(opened.item.values()))
    name = str(first).partition(":")[2] if "ref" in opened.item else str(first)
    detail = "digest" if isinstance(opened, Excerpt) else "part" if opened.requested else ""
    return GivenItem(opened.kind, name, version_of(opened.kind, opened.item), detail)
