"""The model of the event log: one row for each change, append-only, read by id."""

from django.db import models

from ctxhub.core.accounts.models.agent import Agent
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
