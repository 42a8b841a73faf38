"""A change of a file: who did what to it, and when."""

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.models import Agent, Layer
from tracking.files.models import Resource


class ChangeKind(models.IntegerChoices):
    CREATED = 1, "created"
    MODIFIED = 2, "modified"
    DELETED = 3, "deleted"


class FileChange(ProjectRow):
    Kind = ChangeKind

    resource = models.ForeignKey(
        Resource, on_delete=models.RESTRICT, related_name="changes", db_index=False, verbose_name="file"
    )
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="file_changes", db_index=False
    )
    change = models.PositiveSmallIntegerField(choices=ChangeKind)
    layer = models.ForeignKey(
        Layer, null=True, blank=True, on_delete=models.RESTRICT, related_name="file_changes", db_index=False
    )
    description = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-at", "-id")
        # Each list scans the index that ends in its sort order.
        indexes = (
            models.Index(fields=("project", "-at", "-id"), name="tracking_change_newest"),
            models.Index(fields=("resource", "-at", "-id"), name="tracking_change_by_resource"),
            models.Index(fields=("project", "agent", "-at", "-id"), name="tracking_change_by_agent"),
            models.Index(fields=("project", "layer", "-at", "-id"), name="tracking_change_by_layer"),
            models.Index(fields=("project", "change", "-at", "-id"), name="tracking_change_by_kind"),
        )

    def __str__(self) -> str:
        return f"{self.get_change_display()} {self.resource_id}"

    @property
    def ref(self) -> str:
        return f"change:{self.pk}"
