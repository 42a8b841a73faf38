"""How many rows a project has, kept in step with every write: counting a large table is never cheap."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow


class Tally(ProjectRow):
    """`count` rows of the kind `noun` lie in a layer (its id, 0: in none) and have a status (0: none)."""

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
