"""What an agent wrote, in which session: whoever writes a version counts as given it."""

from django.db import models

from ctxhub.core.kit.inputs import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.models import Agent
from sessions.briefings.models.briefing import KIND_LENGTH, VERSION_LENGTH


class Writing(ProjectRow):
    """An agent wrote a thing in a session, for the first time at `began_at`, for the last time at `at`.

    `session_id` and `session_name`: as of a briefing, 0 and "" for none. Sessions age away, so it is no
    foreign key. `version`: what the last write made; "" for kinds without versions.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="writings", db_index=False)
    kind = models.CharField(max_length=KIND_LENGTH)
    object_id = models.BigIntegerField()
    session_id = models.BigIntegerField(default=0)
    session_name = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True)
    version = models.CharField(max_length=VERSION_LENGTH, blank=True)
    began_at = models.DateTimeField()
    at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            # Who wrote a thing.
            models.UniqueConstraint(
                fields=("project", "kind", "object_id", "agent", "session_id", "session_name"),
                name="sessions_one_writing_per_session",
            ),
        )
        indexes = (
            # Which sessions of an agent were heard of.
            models.Index(fields=("agent", "-at"), name="sessions_writing_by_agent"),
            models.Index(fields=("project", "at"), name="sessions_writing_oldest"),
        )

    def __str__(self) -> str:
        return f"{self.kind}:{self.object_id} {self.version}".strip()
