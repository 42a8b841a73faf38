"""Counts messages that wait for somebody, and those that agents sent, for the first page."""

from collections.abc import Sequence

from ctxhub.console.away.sources import Kind
from ctxhub.console.dashboard import Amount, ListUrl, counting
from messaging.messages.admin import UNACKED, is_open
from messaging.messages.models import READ_OWED
from messaging.models import Delivery, Message

SENT = Kind("message", "messages", 6, verbs=("sent",))


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
