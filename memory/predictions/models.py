"""What predictions came true, and the weights that a project learned from them."""

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.models import ProjectRow
from memory.snapshots.models import Snapshot


class PredictionOutcome(ProjectRow):
    """A prediction, and whether the snapshot was read within a day of it: null while that is open."""

    snapshot = models.ForeignKey(
        Snapshot, null=True, on_delete=models.SET_NULL, related_name="outcomes", db_index=False
    )
    score = models.FloatField()
    temporal = models.FloatField()
    causal = models.FloatField()
    frequency = models.FloatField()
    hit = models.BooleanField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("project", "created_at", "id"), name="memory_outcome_by_time"),
            models.Index(
                fields=("project", "created_at"),
                name="memory_outcome_open",
                condition=models.Q(hit__isnull=True),
            ),
            models.Index(fields=("snapshot", "created_at"), name="memory_outcome_of_snapshot"),
        )

    def __str__(self) -> str:
        return f"{self.score:.2f}"


class PredictionWeights(ProjectRow):
    """The weights of the three parts of a score. The Brier scores are those of the test set."""

    temporal = models.FloatField()
    causal = models.FloatField()
    frequency = models.FloatField()
    samples = models.PositiveIntegerField()
    brier = models.FloatField()
    baseline_brier = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name = "prediction weights"
        verbose_name_plural = "prediction weights"
        constraints = (models.UniqueConstraint(fields=("project",), name="memory_weights_of_project"),)

    def __str__(self) -> str:
        return f"{self.temporal:.2f} {self.causal:.2f} {self.frequency:.2f}"
