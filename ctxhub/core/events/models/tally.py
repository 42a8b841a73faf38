"""The model of counters: row counts of a project, updated with every write, since counting rows is slow."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow


class Tally(ProjectRow):
    """A counter: `count` rows of the kind `noun` are in a layer (its id; 0: none) with a status (0: none)."""

    noun = models.CharField(max_length=30)
    layer = models.BigIntegerField(default=0)
    status = models.PositiveSmallIntegerField(default=0)
    count = models.BigIntegerField(default=0)

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "tallies"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "noun", "layer", "status"), name="core_one_tally_per_place"
            ),
        )

    def __str__(self) -> str:
        return f"{self.noun}: {self.count}"
