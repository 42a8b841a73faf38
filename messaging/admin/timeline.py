"""What messages add to the timeline: arrows from senders to recipients, and what each agent sent."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Left
from django.urls import reverse

from ctxhub.core.admin.timeline import sources
from ctxhub.core.admin.timeline.periods import Period
from ctxhub.core.admin.timeline.sources import Account, Arrow
from ctxhub.core.models import Project
from messaging.models import Delivery, Message
from messaging.models.delivery import URGENT

ARROWS_SHOWN = 200
READ, SHOWN = 400, 6
TEXT_SHOWN = 120


def message_arrows(project: Project, period: Period) -> list[Arrow]:
    """Of the period's newest 200 messages."""
    named = Prefetch("deliveries", Delivery.objects.in_project(project.pk).only("message", "name", "folded"))
    newest = _messages(project, period).prefetch_related("sender", named)[:ARROWS_SHOWN]
    return [_arrow(message) for message in newest]


def _arrow(message: Message) -> Arrow:
    deliveries = [] if message.to_everyone else list(message.deliveries.all())
    to = "everyone" if message.to_everyone else ", ".join(each.name for each in deliveries)
    return Arrow(
        message.sender_id,
        message.created_at,
        None if message.to_everyone else [each.folded for each in deliveries],
        f"{message.sender.name} to {to[:100]}: {message.beginning}",  # type: ignore[attr-defined]
        reverse("admin:messaging_message_read", args=[message.pk]),
        "urgent" if message.priority >= URGENT else "",
    )


def sent_messages(project: Project, period: Period) -> list[Account]:
    """For each agent its most urgent and newest messages, of the period's newest 400."""
    by_sender: dict[int, list[Message]] = defaultdict(list)
    for message in _messages(project, period)[:READ]:
        by_sender[message.sender_id].append(message)
    return [
        Account(
            sender_id,
            "Messages",
            "ctxhub/timeline_messages.html",
            _most_urgent(messages)[:SHOWN],
            more=max(len(messages) - SHOWN, 0),
        )
        for sender_id, messages in by_sender.items()
    ]


def _most_urgent(messages: Sequence[Message]) -> list[Message]:
    return sorted(messages, key=lambda message: (message.priority < URGENT, -message.pk))


def _messages(project: Project, period: Period) -> QuerySet[Message]:
    sent = Message.objects.in_project(project.pk).filter(
        created_at__gte=period.begin, created_at__lt=period.end
    )
    beginning = Left("text", TEXT_SHOWN)
    return sent.defer("text", "payload").annotate(beginning=beginning).order_by("-pk")


sources.arrows.append(message_arrows)
sources.accounts.append(sent_messages)
