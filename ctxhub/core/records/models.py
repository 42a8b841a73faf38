"""The model of what a hub notes of itself: it belongs to no project."""

from django.db import models


class HubRecord(models.Model):
    """The last of a kind: `at`, and as JSON what is to be said of it.

    The restore is also read by `ctxhub/core/kit/restored.py`, in SQL.
    """

    class Kind(models.TextChoices):
        HUB = "hub"
        BACKUP = "backup"
        RESTORE = "restore"
        DRILL = "drill"

    kind = models.CharField(max_length=20, choices=Kind.choices, unique=True)
    at = models.DateTimeField()
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name = "record of the hub"
        verbose_name_plural = "records of the hub"

    def __str__(self) -> str:
        return self.kind
