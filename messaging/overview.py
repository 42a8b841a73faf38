"""Counts messages that wait for somebody, and lists the latest messages, for the first page."""

from collections.abc import Sequence

from django.db.models.functions import Left

from ctxhub.console.dashboard import Amount, ListUrl, Panel, counting
from messaging.messages.admin import UNACKED, is_open
from messaging.messages.models import READ_OWED
from messaging.models import Delivery, Message

NEWEST_SHOWN = 8
TEXT_SHOWN = 120


def message_amounts(project_ids: Sequence[int], list_url: ListUrl) -> list[Amount]:
    messages = Message.unscoped.filter(project__in=project_ids)
    unread = Delivery.unscoped.filter(READ_OWED, project__in=project_ids).values("message").distinct()
    late = messages.filter(UNACKED, ack=True, ack_overdue=True)
    return [
        Amount(
            "unread urgent messages",
            counting(Message.unscoped.filter(pk__in=unread)),
            list_url("messaging_message", waits="urgent"),
        ),
        Amount(
            "open requests", counting(messages.filter(is_open())), list_url("messaging_message", state="open")
        ),
        Amount("overdue acknowledgements", counting(late), list_url("messaging_message", waits="late")),
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
