"""What needs a person, overdue acknowledgements and silent holders, and how the first page tells it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from typing import Any

import time_machine
from django.test import Client

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent
from ctxhub.toolbox.dispatch import call
from messaging.retention import tell_overdue
from tests.messaging.mail import known, send


@contextmanager
def earlier(**ago: float) -> Iterator[None]:
    with time_machine.travel(clock.now() - timedelta(**ago)):
        yield


def owe(sender: Caller, debtor: Caller, *, due: Mapping[str, float], **message: Any) -> int:
    """A message whose acknowledgement the debtor has owed for so long; its id."""
    known(debtor)
    with earlier(**due), earlier(hours=1):
        message_id = send(sender, **{"to": [debtor.agent], "ack_within": "1h", **message})
    tell_overdue(sender.project_id, clock.now())
    return message_id


def hold(holder: Caller, *paths: str, silent_for: Mapping[str, float]) -> int:
    """A live lease of an agent that was not seen for so long; its id."""
    lease_id: int = call(holder, "file", {"action": "lease", "paths": list(paths), "minutes": 1440})[
        "lease_id"
    ]
    agents = Agent.objects.in_project(holder.project_id).filter(folded=holder.agent.casefold())
    agents.update(last_seen_at=clock.now() - timedelta(**silent_for))
    return lease_id


def told(client: Client, url: str = "/admin/") -> list[str]:
    """The sentences of the page, as text."""
    needs = client.get(url).context["needs"]
    return [as_text(need.sentence) for need in needs.shown]


def as_text(html: str) -> str:
    return unescape(re.sub("<[^>]+>", "", html.replace("<q>", "\u201c").replace("</q>", "\u201d")))


def buttons(client: Client, url: str = "/admin/") -> list[str]:
    needs = client.get(url).context["needs"]
    return [button.label for need in needs.shown for button in need.buttons]
