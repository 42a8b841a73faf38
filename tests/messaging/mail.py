"""Helpers for tests of messages: send, read an inbox, and read events."""

from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Tally
from messaging.messages.inbox import list_inbox
from messaging.messages.services import open_mailbox, send_message
from messaging.models import Message


def send(caller: Caller, text: str = "hello", **rest: Any) -> int:
    """Send and give the id."""
    return send_message(caller=caller, text=text, **rest)["id"]


def known(*callers: Caller) -> None:
    """Register the agents of the callers."""
    for caller in callers:
        open_mailbox(caller)


def inbox(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    open_mailbox(caller)
    return list_inbox(caller, **query).objects()


def texts(caller: Caller, **query: Any) -> list[str]:
    return [row["text"] for row in inbox(caller, **query)]


def events(caller: Caller) -> list[tuple[str, str, dict[str, Any]]]:
    """Verb, ref and data of every event of messages, oldest first."""
    found = Event.objects.in_project(caller.project).filter(noun="message").order_by("pk")
    return list(found.values_list("verb", "ref", "data"))


def verbs(caller: Caller) -> list[str]:
    return [verb for verb, _, _ in events(caller)]


def counted(caller: Caller) -> int:
    """The count of messages in the stats; asserts that it equals the number of rows."""
    tallied = sum(
        Tally.objects.in_project(caller.project).filter(noun="message").values_list("count", flat=True)
    )
    assert tallied == Message.objects.in_project(caller.project).count()
    return int(tallied)
