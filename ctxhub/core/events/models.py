"""Models of the event log and of the counters, which are updated with every write."""

from django.db import models

from ctxhub.core.accounts.models import Agent
from ctxhub.core.events.words import action_word
from ctxhub.core.kit.models import ProjectRow


class Event(ProjectRow):
    """`agent` did `verb` to `ref` (`decision:api/auth`), of the kind `noun`, at `at`."""

    noun = models.CharField(max_length=30)
    verb = models.CharField(max_length=30)
    ref = models.TextField()
    agent = models.ForeignKey(Agent, null=True, on_delete=models.RESTRICT, related_name="+", db_index=False)
    at = models.DateTimeField()
    data = models.JSONField(default=dict)

    class Meta(ProjectRow.Meta):
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("project", "-id"), name="core_event_newest"),
            models.Index(fields=("project", "agent", "-id"), name="core_event_by_agent"),
            models.Index(fields=("project", "-at"), name="core_event_by_time"),
        )

    def __str__(self) -> str:
        return f"{action_word(self.verb)} {self.ref}"


class Tally(ProjectRow):
    """A counter: `count` rows of the kind `noun` are in a layer (its id; 0: none) with a status (0: none)."""

    noun = models.CharField(max_length=30)
    layer = models.BigIntegerField(default=0)
    status = models.PositiveSmallIntegerField(default=0)
    count = models.BigIntegerField(default=0)

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "tallies"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "noun", "layer", "status"), name="core_one_tally_per_place"
            ),
        )

    def __str__(self) -> str:
        return f"{self.noun}: {self.count}"
