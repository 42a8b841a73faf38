"""A delivery: one message to one recipient, who may have read and acknowledged it."""

from collections.abc import Iterable
from typing import Any

from django.db import models

from ctxhub.core.kit.models import ProjectRow, saved_with
from ctxhub.core.kit.priority import Priority
from messaging.models.message import Message, MessageType, RequestState

URGENT = Priority.HIGH  # And above.

# What is still missing from a recipient: see rules.py.
READ_OWED = models.Q(owed=True, read_at=None, priority__gte=URGENT)
ACK_OWED = models.Q(owed=True, acked_at=None, message__ack=True)


class Delivery(ProjectRow):
    """The recipient is stored by name: addressing a name creates no agent. An agent reads what has its name.

    `owed`: the recipient is to read it if it is urgent, and to acknowledge it if that is asked. A message to
    everyone is not owed by agents that were not seen in the week before it; see sql/deliveries.py.
    Type, state, priority and time are copied from the message, so that an inbox is one index scan.
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    name = models.CharField(max_length=100)
    folded = models.CharField(max_length=300, editable=False)
    type = models.PositiveSmallIntegerField(choices=MessageType)
    state = models.PositiveSmallIntegerField(choices=RequestState)
    priority = models.PositiveSmallIntegerField(choices=Priority)
    at = models.DateTimeField()
    owed = models.BooleanField(default=True, db_default=True)
    read_at = models.DateTimeField(null=True, blank=True)
    acked_at = models.DateTimeField(null=True, blank=True)

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "deliveries"
        constraints = (
            models.UniqueConstraint(
                fields=("message", "folded"),
                name="messaging_one_delivery_per_recipient",
                violation_error_message="This message has this recipient already.",
            ),
        )
        indexes = (
            models.Index(
                fields=("project", "folded", "type", "state", "-priority", "-at", "-message"),
                condition=models.Q(read_at__isnull=True),
                name="messaging_unread",
            ),
            models.Index(
                fields=("project", "folded", "type", "state", "-priority", "-at", "-message"),
                name="messaging_inbox",
            ),
            models.Index(
                fields=("project", "folded", "priority"),
                condition=models.Q(read_at__isnull=True, priority__gte=URGENT),
                name="messaging_urgent",
            ),
        )

    def __str__(self) -> str:
        return f"message:{self.message_id} to {self.name}"

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        self.folded = self.name.casefold()
        super().save(*args, update_fields=saved_with(update_fields, "name", "folded"), **kwargs)
