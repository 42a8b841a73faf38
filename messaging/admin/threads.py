"""Builds a conversation for the admin: its messages, oldest first, each with its receipts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Count, QuerySet

from ctxhub.core.kit import clock
from ctxhub.core.templatetags.entries import written
from messaging.models import Delivery
from messaging.selectors.messages import find_thread, get_message

if TYPE_CHECKING:
    from messaging.rows import MessageRow

SHOWN = 100
RECEIPTS_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class Receipt:
    name: str
    read_at: datetime | None
    acked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Bubble:
    """A message, and how many recipients it has, how many of them have read and acknowledged it.

    `own_receipt` is the current user's receipt, if the message is addressed to them.
    """

    message: "MessageRow"
    receipts: Sequence[Receipt]
    recipients: int
    read: int
    acked: int
    state: str | None
    is_own: bool
    own_receipt: Receipt | None

    @property
    def is_to_read(self) -> bool:
        return self.own_receipt is not None and self.own_receipt.read_at is None

    @property
    def is_to_ack(self) -> bool:
        return self.message.ack and self.own_receipt is not None and self.own_receipt.acked_at is None

    @property
    def payload(self) -> str:
        return "" if self.message.payload is None else written(self.message.payload)

    @property
    def is_late(self) -> bool:
        return self.message.ack_overdue and self.acked < self.recipients


@dataclass(frozen=True, slots=True)
class Conversation:
    """A page of a thread. `after` is the last id shown, None on the last page."""

    root: int
    bubbles: Sequence[Bubble]
    after: int | None


def conversation(project_id: int, message_id: int, *, own: str, after: int = 0) -> Conversation:
    """The thread of a message, starting after the id `after`. Raises NotFound."""
    root = get_message(project_id, message_id).thread
    rows = find_thread(project_id, root, limit=SHOWN + 1, after=after)
    shown = rows[:SHOWN]
    deliveries = Delivery.objects.in_project(project_id).filter(message__in=[row.id for row in shown])
    stats = deliveries.values("message").annotate(
        all=Count("pk"), read=Count("read_at"), acked=Count("acked_at")
    )
    counts = {row["message"]: (row["all"], row["read"], row["acked"]) for row in stats}
    receipts: dict[int, list[Receipt]] = {}
    for row_id, receipt in _receipts(deliveries.order_by("message", "folded")[:RECEIPTS_SHOWN]):
        receipts.setdefault(row_id, []).append(receipt)
    own_receipts = dict(_receipts(deliveries.filter(folded=own.casefold())))
    now = clock.now()
    bubbles = []
    for row in shown:
        recipients, read, acked = counts.get(row.id, (0, 0, 0))
        bubbles.append(
            Bubble(
                message=row,
                receipts=receipts.get(row.id, ()),
                recipients=recipients,
                read=read,
                acked=acked,
                state=row.state_label(now),
                is_own=row.sender.casefold() == own.casefold(),
                own_receipt=own_receipts.get(row.id),
            )
        )
    return Conversation(root, bubbles, shown[-1].id if len(rows) > SHOWN else None)


def _receipts(deliveries: QuerySet[Delivery]) -> Iterator[tuple[int, Receipt]]:
    for row_id, name, read_at, acked_at in deliveries.values_list("message", "name", "read_at", "acked_at"):
        yield row_id, Receipt(name, read_at, acked_at)
