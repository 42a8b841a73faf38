"""Who wrote to whom in a period: its messages counted by sender and recipient, for the timeline."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Left

from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Section
from ctxhub.console.urls import list_url, row_urls
from ctxhub.core.accounts.agents import ids_of_names
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from messaging.messages.models import ACK_OWED
from messaging.models import Delivery, Message

SHOWN = 12
TEXT_SHOWN = 120
EVERYONE, PEOPLE, NAMES = "everyone", "people", "names"
"""Whom a message addresses, as the filter `addressed` of the list names it."""


class Group(NamedTuple):
    """The messages of a sender to a name, or to everyone or people, whose `folded` is "".

    `answered`: those with a reply, by the recipient if it is one. `asked`: those to be acknowledged, of which
    `owed` are not yet, by all of everyone. `last`: the id of the newest.
    """

    sender_id: int
    sender: str
    addressed: str
    name: str
    folded: str
    messages: int
    answered: int
    asked: int
    owed: int
    last: int


@frozen
class Pair:
    """`recipient_id`: None for a name of nobody. `url`: the list of these messages."""

    group: Group
    recipient_id: int | None
    text: str
    at: datetime
    text_url: str
    url: str

    @property
    def acknowledged(self) -> int:
        return self.group.asked - self.group.owed


@frozen
class Pairs:
    """`messages`: of the period; a message to three agents is in three pairs."""

    section: Section
    messages: int


def pairs_of(project: Project, period: Period) -> Pairs:
    """The 12 pairs with the most messages."""
    by_kind = list(_by_kind(project, period))
    to_many = [group for group in by_kind if group.addressed != NAMES]
    groups = sorted([*to_many, *_by_name(project, period)], key=lambda group: (-group.messages, -group.last))
    shown = groups[:SHOWN]
    ids = ids_of_names(project.pk, [group.folded for group in shown if group.folded])
    texts = _texts(project, [group.last for group in shown])
    rows = [_pair(project, period, group, ids, texts) for group in shown if group.last in texts]
    note = (
        f"The {len(shown)} pairs with the most messages, of {len(groups):,}." if len(groups) > SHOWN else ""
    )
    section = Section("Who wrote to whom", "ctxhub/timeline_pairs.html", rows, note)
    return Pairs(section, sum(group.messages for group in by_kind))


def _by_kind(project: Project, period: Period) -> Iterable[Group]:
    """All messages of the period: to everyone, to people, and to names alone."""
    sent = Message.objects.in_project(project.pk).filter(
        created_at__gte=period.begin, created_at__lt=period.end
    )
    replies = Message.unscoped.filter(reply_to=OuterRef("pk")).exclude(sender=OuterRef("sender"))
    owed = Delivery.unscoped.filter(ACK_OWED, message=OuterRef("pk"))
    grouped: QuerySet[Any, Any] = (
        sent.order_by()
        .values_list("sender_id", "sender__name", "to_everyone", "to_people")
        .annotate(
            count=Count("pk"),
            answered=Count("pk", filter=Q(Exists(replies))),
            asked=Count("pk", filter=Q(ack=True)),
            owed=Count("pk", filter=Q(Exists(owed))),
            last=Max("pk"),
        )
    )
    for sender_id, sender, to_everyone, to_people, *counts in grouped:
        addressed = EVERYONE if to_everyone else PEOPLE if to_people else NAMES
        yield Group(sender_id, sender, addressed, addressed, "", *counts)


def _by_name(project: Project, period: Period) -> Iterable[Group]:
    """The messages to names, by each of the names."""
    replies = Message.unscoped.filter(
        reply_to=OuterRef("message"), project=OuterRef("project"), sender__folded=OuterRef("folded")
    )
    rows = to_names(Delivery.objects.in_project(project.pk)).filter(
        message__created_at__gte=period.begin, message__created_at__lt=period.end
    )
    grouped: QuerySet[Any, Any] = (
        rows.order_by()
        .values_list("message__sender_id", "message__sender__name", "folded")
        .annotate(
            name=Max("name"),
            count=Count("pk"),
            answered=Count("pk", filter=Q(Exists(replies))),
            asked=Count("pk", filter=Q(message__ack=True)),
            owed=Count("pk", filter=ACK_OWED),
            last=Max("message_id"),
        )
    )
    for sender_id, sender, folded, name, *counts in grouped:
        yield Group(sender_id, sender, NAMES, name, folded, *counts)


def to_names(deliveries: QuerySet[Delivery]) -> QuerySet[Delivery]:
    """Those of recipients that the message names."""
    return deliveries.filter(message__to_everyone=False, to_people=False)


def _texts(project: Project, message_ids: Sequence[int]) -> Mapping[int, tuple[str, datetime]]:
    rows = Message.objects.in_project(project.pk).filter(pk__in=message_ids).order_by()
    found = rows.values_list("pk", Left(F("text"), TEXT_SHOWN), "created_at")
    return {message_id: (text, at) for message_id, text, at in found}


def _pair(
    project: Project,
    period: Period,
    group: Group,
    ids: Mapping[str, int],
    texts: Mapping[int, tuple[str, datetime]],
) -> Pair:
    text, at = texts[group.last]
    to = {"to": group.name} if group.folded else {}
    ends = {"until": period.last_field} if period.has_end else {}
    narrowed = {**to, "addressed": group.addressed, "since": period.first_field, **ends}
    url = list_url("messaging_message", project, **{"from": group.sender, **narrowed})
    page = row_urls("admin:messaging_message_read")(group.last)
    return Pair(group, ids.get(group.folded), text, at, page, url)
