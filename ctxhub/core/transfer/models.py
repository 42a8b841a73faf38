"""The models of imports: where objects came from, and an import at work."""

from uuid import uuid4

from django.db import models

from ctxhub.core.accounts.models import Project
from ctxhub.core.kit.models import ProjectRow


class Origin(ProjectRow):
    """The UUID that an imported object has had in the first hub that exported it.

    Any other object has the UUID that `uuids.py` computes from its project and id.
    """

    kind = models.CharField(max_length=30)
    object_id = models.BigIntegerField()
    uuid = models.UUIDField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("project", "uuid", "kind"), name="core_one_origin_per_uuid"),
            models.UniqueConstraint(
                fields=("project", "kind", "object_id"), name="core_one_origin_per_object"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind}:{self.object_id}"


class ImportState(models.IntegerChoices):
    """STAGING: nobody sees its rows. MOVING: it will be finished, some rows are seen. SHOWN: all are, and
    some are not indexed yet. DONE."""

    STAGING = 1, "staging"
    MOVING = 2, "moving"
    SHOWN = 3, "shown"
    DONE = 4, "done"


class Import(models.Model):
    """An import into `project`. Its new rows are written to the hidden project `staged`, where no read finds
    them.

    `alive_until`: later than this the process that did it has ended, and a cleanup ends or removes it.
    `slug`, `name`: of the project that the hidden one becomes, where there is none yet.
    """

    uuid = models.UUIDField(default=uuid4, unique=True)
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="imports")
    staged = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="+")
    slug = models.CharField(max_length=100, blank=True)
    name = models.CharField(max_length=200, blank=True)
    state = models.PositiveSmallIntegerField(choices=ImportState, default=ImportState.STAGING)
    sha256 = models.CharField(max_length=64)
    counts = models.JSONField(default=dict)
    by = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField()
    alive_until = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"import {self.pk}"
