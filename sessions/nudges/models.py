"""Notices: what an agent was told by a message or a nudge, so that it hears each thing once."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.models import Agent
from sessions.given.models import KIND_LENGTH, VERSION_LENGTH


class Notice(ProjectRow):
    """An agent hears once about a version of a thing.

    `message_id`: the message that told it; messages age away, so it is no foreign key. `nudged_at`: when a
    nudge named it. `version`: of a decision the new version, or "deprecated" and the version; of a row that
    went stale since when; of messages and leases "".
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="notices", db_index=False)
    kind = models.CharField(max_length=KIND_LENGTH)
    object_id = models.BigIntegerField()
    version = models.CharField(max_length=VERSION_LENGTH, blank=True)
    message_id = models.BigIntegerField(null=True, blank=True)
    nudged_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("agent", "kind", "object_id", "version"), name="sessions_one_notice_per_version"
            ),
        )
        indexes = (
            models.Index(
                fields=("agent", "id"),
                condition=models.Q(nudged_at__isnull=True),
                name="sessions_notice_to_nudge",
            ),
            models.Index(fields=("project", "created_at"), name="sessions_notice_oldest"),
        )

    def __str__(self) -> str:
        return f"{self.kind}:{self.object_id} {self.version}".strip()
