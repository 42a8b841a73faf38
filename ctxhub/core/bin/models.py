"""The models of the bin: a deleted object, and its rows."""

from datetime import timedelta

from django.db import models

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow

KEPT_FOR = timedelta(days=30)
TITLE_LENGTH = 100


class BinState(models.IntegerChoices):
    """PARTIAL: of a large object a part of its contents, while it is deleted or restored, or if that was cut
    off: the object itself is there. NOT_KEPT: it was too large."""

    KEPT = 1, "kept"
    PARTIAL = 2, "partial"
    NOT_KEPT = 3, "not_kept"


class BinItem(ProjectRow):
    """A deleted object. `folded`: its case-folded name, where its kind has names.

    `title`: what a list shows of it, cut, without credentials. `along`: how many rows of other tables went
    with it, by their plural. `size`: the bytes of its rows as JSON. `author`: who wrote it.
    """

    kind = models.CharField(max_length=30)
    object_id = models.BigIntegerField()
    ref = models.CharField(max_length=300)
    folded = models.CharField(max_length=600, blank=True)
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    along = models.JSONField(default=dict)
    state = models.PositiveSmallIntegerField(choices=BinState, default=BinState.KEPT)
    size = models.BigIntegerField(default=0)
    author = models.ForeignKey(Agent, null=True, on_delete=models.SET_NULL, related_name="+")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.SET_NULL, related_name="+")
    deleted_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        ordering = ("-deleted_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "kind", "object_id"), name="core_one_bin_item_per_object"
            ),
        )
        indexes = (
            # Lists, and what has been there for long enough.
            models.Index(fields=("project", "-deleted_at", "-id"), name="core_bin_item_newest"),
            models.Index(fields=("project", "kind", "folded"), name="core_bin_item_named"),
        )
        verbose_name = "entry of the bin"
        verbose_name_plural = "deleted objects"

    def __str__(self) -> str:
        return self.ref


class BinPart(ProjectRow):
    """Rows of a deleted object, compressed; a large one has several parts.

    `has_object`: it holds the row of the object itself, and is restored first. `count`: how many objects of
    its own went with it in this part; `size`: the bytes of the rows as JSON.
    """

    item = models.ForeignKey(BinItem, on_delete=models.CASCADE, related_name="parts", db_index=False)
    has_object = models.BooleanField(default=False)
    count = models.PositiveIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    data = models.BinaryField()

    class Meta(ProjectRow.Meta):
        indexes = (
            models.Index(fields=("item", "id"), name="core_bin_part_of_item"),
            models.Index(fields=("project",), name="core_bin_part_of_project"),
        )

    def __str__(self) -> str:
        return f"part {self.pk}"
