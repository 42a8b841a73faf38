"""A message, its deliveries to recipients, and the results of requests."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Value
from django.utils import timezone

from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow, saved_with
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Agent

CHOICE_LENGTH = 60


class MessageType(models.IntegerChoices):
    DECISION = 1, "decision"
    WARNING = 2, "warning"
    REQUEST = 3, "request"
    INFO = 4, "info"


class RequestState(models.IntegerChoices):
    """The state of a request; other messages have none. An expired claim counts as open."""

    NONE = 0, "none"
    OPEN = 1, "open"
    CLAIMED = 2, "claimed"
    DONE = 3, "done"


class Message(ProjectRow):
    """`thread` is the first message of its thread, null on the first itself.

    `thread` has no foreign key constraint: retention removes messages, and a thread outlives its first one.
    `to_people`: any of the people may answer it; they have deliveries by name, and `claimed_by` is the first
    who did. `choices`: the answers to choose from, `choice` the one that this reply takes, "" for none.
    `escalated`: the log says that it waits for too long. `claimed_session`: the session of `claimed_by` that
    holds a request, "" for none; `claimed_made_up`: a process chose its name. Receipts (who has read and
    acknowledged a message) are in its deliveries, one for each recipient.
    """

    Type, State = MessageType, RequestState

    sender = models.ForeignKey(Agent, on_delete=models.RESTRICT, related_name="messages", db_index=False)
    type = models.PositiveSmallIntegerField(choices=MessageType, default=MessageType.INFO)
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.MEDIUM)
    text = models.TextField()
    payload = models.JSONField(null=True, blank=True)
    choices = models.JSONField(default=list, db_default=Value([], models.JSONField()), blank=True)
    choice = models.CharField(max_length=CHOICE_LENGTH, blank=True, default="", db_default="")
    thread = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="later",
        db_index=False,
    )
    reply_to = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replies", db_index=False
    )
    to_everyone = models.BooleanField(default=True)
    to_people = models.BooleanField(default=False, db_default=False)
    ack = models.BooleanField(default=False, help_text="Each recipient is to acknowledge it.")
    ack_due_at = models.DateTimeField(null=True, blank=True)
    ack_overdue = models.BooleanField(default=False)
    escalated = models.BooleanField(default=False, db_default=False, editable=False)
    state = models.PositiveSmallIntegerField(choices=RequestState, default=RequestState.NONE)
    claimed_by = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.RESTRICT, related_name="+", db_index=False
    )
    claimed_session = models.CharField(
        max_length=SESSION_NAME_LENGTH, blank=True, default="", db_default="", editable=False
    )
    claimed_made_up = models.BooleanField(default=False, db_default=False, editable=False)
    claimed_until = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    result_refs = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(type=MessageType.REQUEST, state__gt=0)
                | (~models.Q(type=MessageType.REQUEST) & models.Q(state=RequestState.NONE)),
                name="messaging_only_requests_have_a_state",
                violation_error_message="Requests have a state, and nothing else has.",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=RequestState.CLAIMED)
                | models.Q(claimed_by__isnull=False, claimed_until__isnull=False),
                name="messaging_a_claim_has_a_holder",
                violation_error_message="A claimed request names who holds it, and until when.",
            ),
        )
        indexes = (
            models.Index(fields=("project", "created_at", "id"), name="messaging_message_oldest"),
            models.Index(
                fields=("thread", "id"), condition=models.Q(thread__isnull=False), name="messaging_thread"
            ),
            models.Index(
                fields=("reply_to",), condition=models.Q(reply_to__isnull=False), name="messaging_replies"
            ),
            models.Index(
                fields=("project", "id"), condition=models.Q(to_everyone=True), name="messaging_to_everyone"
            ),
            models.Index(fields=("project", "id"), condition=models.Q(ack=True), name="messaging_with_ack"),
            models.Index(
                fields=("project", "ack_due_at"),
                condition=models.Q(ack_due_at__isnull=False, ack_overdue=False),
                name="messaging_ack_falls_due",
            ),
            models.Index(
                fields=("project", "created_at"),
                condition=models.Q(escalated=False) & (models.Q(ack=True) | models.Q(state__in=(1, 2))),
                name="messaging_may_escalate",
            ),
            models.Index(
                fields=("project", "state", "id"), condition=models.Q(state__gt=0), name="messaging_requests"
            ),
        )

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        return f"message:{self.pk}"

    @property
    def thread_or_own_id(self) -> int:
        """The id of the first message of its thread."""
        return self.thread_id or self.pk


URGENT = Priority.HIGH  # And above.

# What is still missing from a recipient, in SQL and as a rule.
READ_OWED = models.Q(owed=True, read_at=None, priority__gte=URGENT)
ACK_OWED = models.Q(owed=True, acked_at=None, message__ack=True)
READ, ACK = "read", "ack"
OWED = (READ, ACK)


def owes(
    *, owed: bool, ack: bool, priority: int, read_at: datetime | None, acked_at: datetime | None
) -> str | None:
    """What is missing from a recipient: an acknowledgement, which is a reading too, or an urgent reading."""
    if not owed:
        return None
    if ack and acked_at is None:
        return ACK
    return READ if priority >= URGENT and read_at is None else None


class Delivery(ProjectRow):
    """The recipient is stored by name: addressing a name creates no agent. An agent reads what has its name.

    `to_people`: the recipient is one of the people, whom the message does not name. `owed`: the recipient is
    to read it if it is urgent, and to acknowledge it if that is asked. A message to everyone is not owed by
    agents that were not seen in the week before it; see deliveries.py.
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
    to_people = models.BooleanField(default=False, db_default=False)
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


class Result(ProjectRow):
    """One of the `result_refs` of a message, as the number that `digest_of_ref` makes of it.

    Refs hold paths of up to 1,000 characters, more than an index of PostgreSQL takes.
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="results", db_index=False)
    digest = models.BigIntegerField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("message", "digest"), name="messaging_each_result_once"),
        )
        indexes = (
            models.Index(fields=("project", "digest", "message"), name="messaging_requests_by_result"),
        )

    def __str__(self) -> str:
        return f"{self.digest}"
