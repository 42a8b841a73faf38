"""What an agent owes, and its last messages: panels on its page; and the button that writes to it."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Prefetch, QuerySet, Window
from django.db.models.functions import Left
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ctxhub.console.fields import NamesField
from ctxhub.console.row_panels import AGENT, RowPanel
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.accounts.agents import with_agent_pk
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Agent
from ctxhub.core.templatetags.agents import link_to_agent
from messaging.messages.inbox import find_inbox
from messaging.messages.models import ACK_OWED
from messaging.models import Delivery, Message

SHOWN, TEXT_SHOWN = 8, 120
NAMES_SHOWN = 3


# -- What it owes ----------------------------------------------------------------------------------


@frozen
class Owed:
    """A message that waits for the agent: to be read, to be acknowledged, or both."""

    id: int
    sender: str
    sender_id: int
    beginning: str
    priority: int
    at: datetime
    is_unread: bool
    to_ack: bool

    @property
    def urgency(self) -> str:
        return str(Priority(self.priority).label) if self.priority > Priority.MEDIUM else ""


def owed_panel(kind: str, row: Any) -> RowPanel | None:
    """The messages that an agent has not read or not acknowledged, urgent first, then newest."""
    if kind != AGENT:
        return None
    acks = Delivery.objects.in_project(row.project_id).filter(ACK_OWED, folded=row.folded)
    first, count = _unacknowledged(acks)
    owed = {one.id: one for one in (*_unread(row), *first)}
    ordered = sorted(owed.values(), key=lambda one: (-one.priority, -one.id))
    shown = {
        "owed": ordered[:SHOWN],
        "acks": count,
        "all_url": reverse("admin:messaging_message_inbox", args=[row.pk]),
    }
    return RowPanel("ctxhub/agent_owes.html", shown, place=20)


def _unread(agent: Agent) -> list[Owed]:
    found = find_inbox(agent.project_id, agent.folded, clock.now(), unread=True, limit=SHOWN)
    return [
        Owed(
            *(message.id, message.sender, message.sender_id, message.text[:TEXT_SHOWN]),
            *(message.priority, message.created_at),
            is_unread=True,
            to_ack=to_ack,
        )
        for message, to_ack in found
    ]


def _unacknowledged(acks: QuerySet[Delivery]) -> tuple[list[Owed], int]:
    """The most urgent of them, and how many there are."""
    found = (
        acks.annotate(beginning=Left("message__text", TEXT_SHOWN), count=Window(Count("pk")))
        .select_related("message__sender")
        .defer("message__text", "message__payload")
        .order_by("-priority", "-message")[:SHOWN]
    )
    owed = [
        Owed(
            *(each.message_id, each.message.sender.name, each.message.sender_id, each.beginning),
            *(each.priority, each.at, each.read_at is None),
            to_ack=True,
        )
        for each in found
    ]
    return owed, found[0].count if owed else 0


# -- Its mail --------------------------------------------------------------------------------------


@frozen
class Mail:
    """A message from the agent (`is_own`) or to it. `to`: its first recipients, linked."""

    message: Any
    is_own: bool
    to: SafeString | str


def mail_panel(kind: str, row: Any) -> RowPanel | None:
    """The last messages from an agent and to it, newest first."""
    if kind != AGENT:
        return None
    messages = Message.objects.in_project(row.project_id)
    sent = messages.filter(sender=row.pk).order_by("-pk").values_list("pk", flat=True)[:SHOWN]
    received = Delivery.objects.in_project(row.project_id).filter(folded=row.folded).order_by("-message")
    ids = sorted({*sent, *received.values_list("message", flat=True)[:SHOWN]}, reverse=True)[:SHOWN]
    recipients = Delivery.unscoped.filter(message__to_everyone=False).order_by("folded")
    found = (
        messages.filter(pk__in=ids)
        .select_related("sender")
        .defer("text", "payload")
        .annotate(beginning=Left("text", TEXT_SHOWN))
        .prefetch_related(Prefetch("deliveries", queryset=with_agent_pk(recipients.only("message", "name"))))
        .order_by("-pk")
    )
    shown = {
        "mail": [Mail(message, message.sender_id == row.pk, _to(message)) for message in found],
        "from_url": list_url("messaging_message", row.project, **{"from": row.name}),
        "to_url": list_url("messaging_message", row.project, to=row.name),
    }
    return RowPanel("ctxhub/agent_mail.html", shown, place=40)


def _to(message: Any) -> SafeString | str:
    if message.to_everyone:
        return "everyone"
    to = list(message.deliveries.all())
    more = len(to) - NAMES_SHOWN
    links = [link_to_agent(each.name, each.agent_pk) for each in to[:NAMES_SHOWN]]
    return format_html_join(
        ", ", "{}", ((link,) for link in [*links, *([f"{more} more"] if more > 0 else [])])
    )


# -- Links -----------------------------------------------------------------------------------------


def inbox_of(agent: Agent) -> SafeString:
    url = reverse("admin:messaging_message_inbox", args=[agent.pk])
    return format_html('<a class="ctx-link" href="{}">Its inbox</a>', url)


def write_url(agent: Agent) -> str:
    """The form of a message with the agent as its recipient."""
    to = NamesField().written([agent.name])
    return in_project(reverse("admin:messaging_message_add"), agent.project, to=to)
