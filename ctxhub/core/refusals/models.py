"""The model of refusals: a count for each agent, object, error and minute."""

from django.db import models

from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow

REF_LENGTH = 250
NOTE_LENGTH = 250


class Refusal(ProjectRow):
    """`name` was refused `count` times within `minute`, because of `ref`.

    The agent is stored by name: being refused registers nobody. `ref` is "" if the call named no object, or
    if the agent was refused too often; `name` is "" if too many agents were. `note` is the last error, and
    `session` that of the agent which got it, "" for none.
    """

    name = models.CharField("agent", max_length=100)
    folded = models.CharField(max_length=300, editable=False)
    ref = models.CharField(max_length=REF_LENGTH)
    code = models.CharField("why", max_length=20)
    minute = models.DateTimeField()
    count = models.PositiveIntegerField("times")
    first_at = models.DateTimeField("first")
    last_at = models.DateTimeField("last")
    note = models.CharField(max_length=NOTE_LENGTH)
    session = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True, default="", db_default="")

    class Meta(ProjectRow.Meta):
        ordering = ("-minute", "-id")
        constraints = (
            # Also finds the refusals of an object.
            models.UniqueConstraint(
                fields=("project", "ref", "folded", "code", "minute"), name="core_one_refusal_a_minute"
            ),
        )
        # Ranges of time, and retention.
        indexes = (models.Index(fields=("project", "-minute", "-id"), name="core_refusal_newest"),)

    def __str__(self) -> str:
        return f"{self.name}: {self.code} {self.ref}".strip()
