"""A snapshot: what was done at one moment, why, and because of what."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.vocabulary.models import Tag

SOURCE_LENGTH = 100


class ActionType(models.IntegerChoices):
    CONVERSATION = 1, "conversation"
    DECISION = 2, "decision"
    FILE_EDIT = 3, "file_edit"
    TOOL_USE = 4, "tool_use"
    RESEARCH = 5, "research"


class Tier(models.IntegerChoices):
    """How long ago a snapshot was last read."""

    ACTIVE = 1, "active"
    RECENT = 2, "recent"
    ARCHIVED = 3, "archived"
    EXPIRED = 4, "expired"


class Snapshot(ProjectRow):
    """`touched_at`: the last access, or the creation if there was none; the tier follows from it.

    `tier` is a stored copy: every read derives the tier. `session_id`: the number of the session
    it was saved in; the sessions app, a layer above this one, clears it when it deletes that session.
    `prediction_score` and the fields after it are null, or empty, before the first prediction.
    """

    ActionType = ActionType
    Tier = Tier

    summary = models.TextField()
    content = models.TextField()
    tokens = models.PositiveIntegerField(default=0, editable=False)
    action_type = models.PositiveSmallIntegerField(choices=ActionType, default=ActionType.CONVERSATION)
    rationale = models.TextField(blank=True)
    caused_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="effects", db_index=False
    )
    dependencies = models.ManyToManyField(
        "self", through="SnapshotDependency", symmetrical=False, related_name="dependents", blank=True
    )
    tags = models.ManyToManyField(Tag, through="SnapshotTag", related_name="snapshots", blank=True)
    source = models.CharField(max_length=SOURCE_LENGTH, default="unknown")
    metadata = models.JSONField(default=dict, blank=True)
    session_id = models.PositiveBigIntegerField(null=True, blank=True, verbose_name="session")
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="snapshots", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    tier = models.PositiveSmallIntegerField(choices=Tier, default=Tier.ACTIVE, editable=False)
    access_count = models.PositiveIntegerField(default=0, editable=False)
    last_accessed = models.DateTimeField(null=True, blank=True, editable=False)
    last_accessed_by = models.ForeignKey(
        Agent, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False, editable=False
    )
    touched_at = models.DateTimeField(default=timezone.now, editable=False)

    prediction_score = models.FloatField(null=True, blank=True, editable=False)
    temporal = models.FloatField(null=True, blank=True, editable=False)
    causal = models.FloatField(null=True, blank=True, editable=False)
    frequency = models.FloatField(null=True, blank=True, editable=False)
    reasons = models.JSONField(default=list, blank=True, editable=False)
    predicted_next = models.DateTimeField(null=True, blank=True, editable=False)
    predicted_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(ProjectRow.Meta):
        ordering = ("-created_at", "-id")
        # Each list uses an index that ends in its order.
        indexes = (
            models.Index(fields=("project", "-created_at", "-id"), name="memory_snapshot_by_time"),
            # With the cause, so that the statistics read no contents.
            models.Index(
                fields=("project", "action_type", "-created_at", "-id", "caused_by"),
                name="memory_snapshot_by_action",
            ),
            # The newest of an agent, and the dependencies that follow from them.
            models.Index(fields=("project", "agent", "-created_at", "-id"), name="memory_snapshot_by_agent"),
            # Tiers are ranges of this index; it is also the order of pruning.
            models.Index(fields=("project", "touched_at", "id"), name="memory_snapshot_by_touch"),
            # The rows whose stored tier is no longer true.
            models.Index(fields=("project", "tier", "touched_at"), name="memory_snapshot_by_tier"),
            # The cause leads to its effects.
            models.Index(
                fields=("caused_by", "id"),
                name="memory_snapshot_effects",
                condition=models.Q(caused_by__isnull=False),
            ),
            # With the reasons, for the same.
            models.Index(
                fields=("project", "-prediction_score", "-id", "reasons"),
                name="memory_snapshot_by_score",
                condition=models.Q(prediction_score__isnull=False),
            ),
            models.Index(fields=("project", "predicted_at", "id"), name="memory_snapshot_predicted"),
            models.Index(
                fields=("project", "session_id"),
                name="memory_snapshot_of_session",
                condition=models.Q(session_id__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return self.summary if len(self.summary) <= 80 else f"{self.summary[:80].rstrip()}…"

    @property
    def ref(self) -> str:
        return f"snapshot:{self.pk}"


class SnapshotDependency(ProjectRow):
    """An earlier snapshot that another one rests on, besides its cause."""

    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="dependency_links", db_index=False
    )
    dependency = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="dependent_links", db_index=False
    )

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("snapshot", "dependency"), name="memory_one_dependency_of_each"),
        )
        indexes = (models.Index(fields=("dependency", "snapshot"), name="memory_dependency_effects"),)

    def __str__(self) -> str:
        return f"{self.snapshot_id} rests on {self.dependency_id}"


class SnapshotTag(ProjectRow):
    """A tag of a snapshot. Repeats `created_at`, so that a list by tag is one index scan in order."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="tag_links", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.RESTRICT, related_name="snapshot_links", db_index=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("snapshot", "tag"), name="memory_one_tag_per_snapshot"),
        )
        indexes = (
            models.Index(fields=("tag", "-created_at", "-snapshot"), name="memory_snapshottag_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.snapshot_id}"
