"""What messages add to the timeline: arrows from senders to recipients, and what each agent sent."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models.functions import Left

from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Account, Additions, Arrow
from ctxhub.console.urls import row_urls
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Project
from ctxhub.core.text.sentences import shortened
from messaging.messages.models import URGENT
from messaging.models import Delivery, Message
from messaging.pairs import pairs_of

READ = 400
ARROWS_SHOWN, TOLD = 200, 6
TEXT_SHOWN, NAMES_SHOWN = 120, 100


class Sent(NamedTuple):
    """A message of the period. `beginning`: of its text."""

    url: str
    id: int
    sender_id: int
    sender: str
    created_at: datetime
    priority: int
    to_everyone: bool
    beginning: str

    @property
    def level(self) -> str:
        return str(Priority(self.priority).label)


class Recipient(NamedTuple):
    name: str
    folded: str


def sent_messages(project: Project, period: Period) -> Additions:
    """Arrows of the newest 200 messages, each agent's most urgent of the newest 400, and all as pairs."""
    messages = _read(project, period)
    with_arrow = messages[:ARROWS_SHOWN]
    recipients = _recipients(project, [each.id for each in with_arrow if not each.to_everyone])
    pairs = pairs_of(project, period)
    return Additions(
        arrows=[_arrow(message, recipients.get(message.id, []), period) for message in with_arrow],
        accounts=_accounts(messages),
        sections=[pairs.section] if pairs.section.rows else [],
        all_arrows=pairs.messages,
        notes=[f"Messages are told from the newest {READ:,}."] if pairs.messages > READ else [],
    )


def _read(project: Project, period: Period) -> list[Sent]:
    """Newest first."""
    sent = Message.objects.in_project(project.pk).filter(
        created_at__gte=period.begin, created_at__lt=period.end
    )
    newest = sent.annotate(beginning=Left("text", TEXT_SHOWN)).order_by("-pk")
    columns = ("pk", "sender_id", "sender__name", "created_at", "priority", "to_everyone", "beginning")
    url_of = row_urls("admin:messaging_message_read")
    return [Sent(url_of(row[0]), *row) for row in newest.values_list(*columns)[:READ]]


def _recipients(project: Project, message_ids: Sequence[int]) -> Mapping[int, Sequence[Recipient]]:
    recipients: dict[int, list[Recipient]] = defaultdict(list)
    deliveries = Delivery.objects.in_project(project.pk).filter(message__in=message_ids)
    for message_id, name, folded in deliveries.values_list("message_id", "name", "folded"):
        recipients[message_id].append(Recipient(name, folded))
    return recipients


def _arrow(message: Sent, recipients: Sequence[Recipient], period: Period) -> Arrow:
    to = "everyone" if message.to_everyone else ", ".join(each.name for each in recipients)
    to = to if len(to) <= NAMES_SHOWN else shortened(to, NAMES_SHOWN)
    return Arrow(
        message.sender_id,
        message.created_at,
        None if message.to_everyone else [each.folded for each in recipients],
        f"{message.sender} to {to}, {period.local(message.created_at):%a %H:%M}: {message.beginning}",
        message.url,
        "urgent" if message.priority >= URGENT else "",
    )


def _accounts(messages: Sequence[Sent]) -> list[Account]:
    by_sender: dict[int, list[Sent]] = defaultdict(list)
    for message in messages:
        by_sender[message.sender_id].append(message)
    return [
        Account(
            sender_id,
            "Messages",
            "ctxhub/timeline_messages.html",
            _most_urgent(sent)[:TOLD],
            more=max(len(sent) - TOLD, 0),
        )
        for sender_id, sent in by_sender.items()
    ]


def _most_urgent(messages: Sequence[Sent]) -> list[Sent]:
    return sorted(messages, key=lambda message: (message.priority < URGENT, -message.id))
