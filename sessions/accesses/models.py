"""What sessions do with files: which they touched and included, every access, and dependencies of files."""

from django.db import models
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.models import Agent
from sessions.sittings.models import HASH_LENGTH, AgentSession
from tracking.files.models import AccessKind
from tracking.models import Resource

# When a file was last accessed in a session; one that was only saved there: when that was.
LAST = Coalesce("last_accessed", "created_at")
# The strongest access; 0 for a file that was only saved in the session.
BEST = Coalesce("best_access", 0)


class Mode(models.IntegerChoices):
    """How a file is included in a context, the fullest first."""

    FULL = 1, "full"
    COMPRESSED = 2, "compressed"
    DIGEST = 3, "digest"
    REFERENCE = 4, "reference"


class SessionResource(ProjectRow):
    """A file in a session. `relevance`, `included` and `mode` are those of the last prioritisation.

    `best_access`: the strongest access in the session. `is_saved`: it is one of the `files` of the last save,
    `hash` is the last one that a save or an access gave.
    """

    session = models.ForeignKey(
        AgentSession, on_delete=models.CASCADE, related_name="resources", db_index=False
    )
    resource = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="sessions", db_index=False, verbose_name="file"
    )
    relevance = models.PositiveSmallIntegerField(default=0)
    included = models.BooleanField(default=False)
    mode = models.PositiveSmallIntegerField(choices=Mode, null=True, blank=True)
    compressed_tokens = models.PositiveIntegerField(null=True, blank=True)
    access_count = models.PositiveIntegerField(default=0)
    last_accessed = models.DateTimeField(null=True, blank=True)
    best_access = models.PositiveSmallIntegerField(choices=AccessKind, null=True, blank=True)
    modified = models.BooleanField(default=False)
    is_saved = models.BooleanField(default=False)
    hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    modified_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name = "file of a session"
        verbose_name_plural = "files of sessions"
        ordering = ("session", "id")
        constraints = (
            models.UniqueConstraint(fields=("session", "resource"), name="sessions_one_resource_per_session"),
        )
        indexes = (
            models.Index(fields=("resource", "session"), name="sessions_resource_sessions"),
            # Each order of the list of a session's files.
            models.Index(
                "session",
                F("relevance").desc(),
                BEST.desc(),
                LAST.desc(),
                F("id").desc(),
                name="sessions_resource_relevant",
            ),
            models.Index(
                "session",
                F("access_count").desc(),
                LAST.desc(),
                F("id").desc(),
                name="sessions_resource_often",
            ),
            models.Index("session", LAST.desc(), F("id").desc(), name="sessions_resource_recent"),
        )

    def __str__(self) -> str:
        return f"{self.resource_id} in {self.session_id}"


class Access(ProjectRow):
    """One access of an agent to a file."""

    resource = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="accesses", db_index=False, verbose_name="file"
    )
    session = models.ForeignKey(
        AgentSession, on_delete=models.CASCADE, related_name="accesses", db_index=False
    )
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="accesses", db_index=False
    )
    access = models.PositiveSmallIntegerField(choices=AccessKind)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "accesses"
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("project", "-created_at", "-id"), name="sessions_access_newest"),
            models.Index(fields=("project", "access", "-created_at", "-id"), name="sessions_access_by_kind"),
            models.Index(fields=("resource", "-created_at", "-id"), name="sessions_access_by_file"),
            models.Index(fields=("session", "-created_at", "-id"), name="sessions_access_by_session"),
            models.Index(fields=("agent", "-created_at", "-id"), name="sessions_access_by_agent"),
        )

    def __str__(self) -> str:
        return f"{self.get_access_display()} {self.resource_id}"


class ResourceDependency(ProjectRow):
    """A file that needs another one. `strength` grows with each time that it is said."""

    source = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="outgoing", db_index=False)
    target = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="incoming", db_index=False)
    type = models.CharField(max_length=100)
    strength = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name = "dependency"
        verbose_name_plural = "dependencies"
        ordering = ("source", "target", "type")
        constraints = (
            models.UniqueConstraint(
                fields=("source", "target", "type"),
                name="sessions_one_dependency_per_type",
                violation_error_message="This dependency exists.",
            ),
        )
        indexes = (models.Index(fields=("target", "source"), name="sessions_dependency_incoming"),)

    def __str__(self) -> str:
        return f"{self.source_id} {self.type} {self.target_id}"
