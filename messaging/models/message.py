"""A message: what one agent says to some others, or to everyone in the project."""

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.inputs import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Agent


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
