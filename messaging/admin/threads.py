"""Builds a conversation for the admin: its messages, oldest first, each with its receipts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.db.models import Count

from ctxhub.core.accounts.selectors.agents import ids_of_names
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.templatetags.entries import written
from messaging.models import Delivery
from messaging.selectors.messages import find_thread, get_message
from messaging.selectors.receipts import Receipt, read_receipts, receipts_of

if TYPE_CHECKING:
    from messaging.rows import MessageRow

SHOWN = 100
RECEIPTS_SHOWN = 1_000


@frozen
class Bubble:
    """A message, how many agents it is owed by, and how many of those have read and acknowledged it.

    `receipts` contains others who have read it, too. `own_receipt` is the current user's receipt, if the
    message is addressed to them.
    """

    message: "MessageRow"
    receipts: Sequence[Receipt]
    recipients: int
    read: int
    acked: int
    state: str | None
    is_own: bool
    own_receipt: Receipt | None
    agent_ids: Mapping[str, int]

    @property
    def linked_receipts(self) -> Sequence[tuple[Receipt, int | None]]:
        """With the id of the agent, if one of this name is registered."""
        return [(receipt, self.agent_ids.get(receipt.folded)) for receipt in self.receipts]

    @property
    def linked_to(self) -> Sequence[tuple[str, int | None]]:
        """The recipients by name, with their ids in the same way."""
        return [(name, self.agent_ids.get(name.casefold())) for name in self.message.to or ()]

    @property
    def by_id(self) -> int | None:
        return self.agent_ids.get((self.message.claimed_by or "").casefold())

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


@frozen
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
    ids = [row.id for row in shown]
    deliveries = Delivery.objects.in_project(project_id).filter(message__in=ids)
    stats = (
        deliveries.filter(owed=True)
        .values("message")
        .annotate(all=Count("pk"), read=Count("read_at"), acked=Count("acked_at"))
    )
    counts = {row["message"]: (row["all"], row["read"], row["acked"]) for row in stats}
    receipts: dict[int, list[Receipt]] = {}
    for receipt in read_receipts(receipts_of(project_id, ids).order_by("message", "folded")[:RECEIPTS_SHOWN]):
        receipts.setdefault(receipt.message_id, []).append(receipt)
    own_receipts = {r.message_id: r for r in read_receipts(deliveries.filter(folded=own.casefold()))}
    named = {receipt.folded for of_message in receipts.values() for receipt in of_message}
    written = {name.casefold() for row in shown for name in (row.claimed_by, *(row.to or ())) if name}
    agent_ids = ids_of_names(project_id, named | written)
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
                agent_ids=agent_ids,
            )
        )
    return Conversation(root, bubbles, shown[-1].id if len(rows) > SHOWN else None)
