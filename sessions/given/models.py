"""What an agent was given and what it wrote, in which session."""

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.models import Agent
from sessions.sittings.models import AgentSession

KIND_LENGTH = 30
VERSION_LENGTH = 100


class Briefing(ProjectRow):
    """`via`: get, brief, why, load, restore. `session`: the one that the call belonged to.

    `session_name`: how the call named a session that did not exist yet, and may be opened later.
    """

    agent = models.ForeignKey(Agent, on_delete=models.RESTRICT, related_name="briefings", db_index=False)
    session = models.ForeignKey(
        AgentSession, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    session_name = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True)
    via = models.CharField(max_length=20)
    tokens = models.PositiveIntegerField(null=True, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-at", "-id")
        indexes = (
            models.Index(fields=("project", "agent", "-at", "-id"), name="sessions_briefing_by_agent"),
            models.Index(
                fields=("session", "-at"),
                condition=models.Q(session__isnull=False),
                name="sessions_briefing_by_session",
            ),
            # Retention, and the list of all.
            models.Index(fields=("project", "-at", "-id"), name="sessions_briefing_newest"),
        )

    def __str__(self) -> str:
        return f"briefing {self.pk}"


class BriefingItem(ProjectRow):
    """A thing that was given: it may have been deleted since.

    `version`: of a decision its version, of a scratchpad and a memory its revision; "" for other kinds, and
    where the answer did not show it. `detail`: digest, part, or the section of a brief.
    """

    briefing = models.ForeignKey(Briefing, on_delete=models.CASCADE, related_name="items", db_index=False)
    kind = models.CharField(max_length=KIND_LENGTH)
    object_id = models.BigIntegerField()
    version = models.CharField(max_length=VERSION_LENGTH, blank=True)
    detail = models.CharField(max_length=20, blank=True)

    class Meta(ProjectRow.Meta):
        ordering = ("id",)
        indexes = (
            models.Index(fields=("briefing", "id"), name="sessions_briefingitem_in_order"),
            # Who was given a thing, last ones first.
            models.Index(
                fields=("project", "kind", "object_id", "-briefing"), name="sessions_briefingitem_given"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind}:{self.object_id}"


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


class Presence(ProjectRow):
    """A session of an agent was heard of from `began_at` to `at`, without a day of silence between.

    `session_id` and `session_name`: as of a writing. What it was given and what it wrote tells the same, but
    with a row for each, and each change of a decision asks for all of its readers.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="presences", db_index=False)
    session_id = models.BigIntegerField(default=0)
    session_name = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True)
    began_at = models.DateTimeField()
    at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("agent", "session_id", "session_name"), name="sessions_one_presence_per_session"
            ),
        )
        indexes = (models.Index(fields=("project", "at"), name="sessions_presence_oldest"),)

    def __str__(self) -> str:
        return f"{self.agent_id} in {self.session_id or self.session_name or 'no session'}"
