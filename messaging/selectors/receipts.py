"""Reads receipts: who owes a message, and who has read and acknowledged it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import Q, QuerySet

from ctxhub.core.accounts.selectors.agents import with_agent_pk
from ctxhub.core.kit.frozen import frozen
from messaging.models import Delivery
from messaging.models.delivery import ACK_OWED, READ_OWED
from messaging.rules import owes

_FIELDS = ("message", "name", "folded", "owed", "message__ack", "priority", "read_at", "acked_at")


@frozen
class Receipt:
    """`is_owed`: the agent was to read it; `owes`: what is still missing: read or ack."""

    message_id: int
    name: str
    folded: str
    is_owed: bool
    read_at: datetime | None
    acked_at: datetime | None
    owes: str | None


def receipts_of(project_id: int, message_ids: Sequence[int]) -> QuerySet[Delivery]:
    """The deliveries that count as receipts: agents that came later owe nothing, and count once they read."""
    deliveries = Delivery.objects.in_project(project_id).filter(message__in=message_ids)
    return deliveries.filter(Q(owed=True) | Q(read_at__isnull=False))


def first_owing(at_most: int) -> QuerySet[Delivery]:
    """For a prefetch: the first recipients, by name, of whom something is missing, of each message."""
    owing = Delivery.unscoped.filter(ACK_OWED | READ_OWED).order_by("folded")
    return with_agent_pk(owing.only("message", "name"))[:at_most]


def read_receipts(deliveries: QuerySet[Delivery]) -> Iterator[Receipt]:
    for message_id, name, folded, owed, ack, priority, read_at, acked_at in deliveries.values_list(*_FIELDS):
        owing = owes(owed=owed, ack=ack, priority=priority, read_at=read_at, acked_at=acked_at)
        yield Receipt(message_id, name, folded, owed, read_at, acked_at, owing)
