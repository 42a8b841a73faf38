"""Dashboard cards for unread and unacknowledged messages, and a panel of the latest messages."""

from collections.abc import Sequence

from django.db.models.functions import Left

from ctxhub.core.admin import dashboard
from ctxhub.core.admin.dashboard import Card, ListUrl, Panel
from messaging.admin.filters import UNACKED, is_open
from messaging.models import Delivery, Message
from messaging.models.delivery import READ_OWED

NEWEST_SHOWN = 8
TEXT_SHOWN = 120


def message_cards(project_ids: Sequence[int], list_url: ListUrl) -> list[Card]:
    rows = Message.unscoped.filter(project__in=project_ids)
    unread = Delivery.unscoped.filter(READ_OWED, project__in=project_ids)
    late = rows.filter(UNACKED, ack=True, ack_overdue=True).count()
    return [
        Card(
            "Unread urgent messages",
            unread.values("message").distinct().count(),
            "mark_email_unread",
            list_url("messaging_message", waits="urgent"),
        ),
        Card(
            "Open requests",
            rows.filter(is_open()).count(),
            "assignment_late",
            list_url("messaging_message", state="open"),
        ),
        Card(
            "Overdue acknowledgements",
            late,
            "notification_important",
            list_url("messaging_message", waits="late"),
        ),
    ]


def latest_messages(project_ids: Sequence[int], list_url: ListUrl) -> Panel:
    rows = Message.unscoped.filter(project__in=project_ids).select_related("project", "sender")
    latest = rows.defer("text", "payload").annotate(beginning=Left("text", TEXT_SHOWN)).order_by("-pk")
    return Panel(
        "Latest messages",
        "ctxhub/latest_messages.html",
        list(latest[:NEWEST_SHOWN]),
        list_url("messaging_message"),
    )


dashboard.cards.append(message_cards)
dashboard.panels.append(latest_messages)
