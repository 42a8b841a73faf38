"""Letters: what a receiver is told of an event, of many at once, or by a test, with a link to the object."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from ctxhub import env
from ctxhub.core.events.log import note_of
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.webhooks.sql import LeasedWebhook, WebhookEvent, count_by_verb


@frozen
class Letter:
    """An event for a receiver. `id`: its cursor (e12). `note`: as in the list of activity.

    `data`: of the event, for sentences. `link`: the page of its object in the admin, "" if nobody knows how
    the hub is reached. `is_again`: it was given up before, so it is out of order.
    """

    id: str
    at: datetime
    project: str
    noun: str
    verb: str
    ref: str
    agent: str
    note: str
    data: Mapping[str, Any] = field(default_factory=dict)
    link: str = ""
    is_again: bool = False

    @property
    def name(self) -> str:
        return f"{self.noun}.{self.verb}"


@frozen
class Summary:
    """Many events for people, who do not read a thousand sentences.

    `counts`: how many of each (noun, verb), the most first. `since`: the time of the first.
    """

    id: str
    since: datetime
    project: str
    events: int
    counts: Mapping[tuple[str, str], int]
    link: str = ""
    is_again: bool = False

    name = "hub.summary"


def letter_of(event: WebhookEvent, slug: str, *, is_again: bool = False) -> Letter:
    return Letter(
        id=f"e{event.id}",
        at=event.at,
        project=slug,
        noun=event.noun,
        verb=event.verb,
        ref=event.ref,
        agent=event.agent,
        note=note_of(dict(event.data)),
        data=event.data,
        link=_link("admin:core_event_open", event.id),
        is_again=is_again,
    )


def letter_of_test(webhook: LeasedWebhook, now: datetime) -> Letter:
    return Letter(
        id="test",
        at=now,
        project=webhook.slug,
        noun="hub",
        verb="tested",
        ref=f"webhook:{webhook.id}",
        agent="system",
        note="A test of this webhook.",
    )


def summary_of(webhook: LeasedWebhook, after: int, up_to: int, *, is_again: bool = False) -> Summary | None:
    """All events that the webhook is told of a range; None if they are gone."""
    counts = count_by_verb(webhook.project_id, webhook.conditions, after, up_to)
    if not counts:
        return None
    return Summary(
        id=f"e{up_to}",
        since=min(at for *_, at in counts),
        project=webhook.slug,
        events=sum(count for _, _, count, _ in counts),
        counts={(noun, verb): count for noun, verb, count, _ in counts},
        link=_link("admin:core_event_changelist", project=webhook.slug),
        is_again=is_again,
    )


def _link(view: str, *arguments: int, **query: str) -> str:
    """The address of a page of the admin; "" where there is none, or the hub's own address is not known."""
    if not env.text("CTXHUB_BASE_URL"):
        return ""
    with suppress(NoReverseMatch):
        path = reverse(view, args=arguments)
        return f"{settings.BASE_URL}{path}{f'?{urlencode(query)}' if query else ''}"
    return ""
