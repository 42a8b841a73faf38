"""The models of path patterns, a row for each glob of an object, and of what is counted on them."""

from django.db import models
from django.db.models import Q

from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.models import PathField, ProjectRow
from ctxhub.core.paths.bearing import HEAD_LENGTH


class PathPattern(ProjectRow):
    """A glob of files that an object bears on; `pattern` is "" for a rule that holds everywhere.

    `head`: the folders that all its files lie in, without wildcards; "" if there are none. The first row of
    an object (`position` 0) counts in `stale` the changes of such files since the object was last written or
    confirmed, as `core/paths/counting.py` says; `stale_since` is the time of the first of them, and
    `folders_at` of the last that counted for a day below folder globs.
    """

    kind = models.CharField(max_length=30)
    object_id = models.BigIntegerField()
    position = models.PositiveSmallIntegerField()
    pattern = PathField(max_length=PATH_LENGTH, blank=True)
    head = PathField(max_length=HEAD_LENGTH, blank=True)
    stale = models.PositiveIntegerField(default=0)
    stale_since = models.DateTimeField(null=True, blank=True)
    folders_at = models.DateTimeField(null=True, blank=True)

    class Meta(ProjectRow.Meta):
        # People see the first rows of stale objects alone.
        verbose_name = "stale row"
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "object_id", "position"), name="core_one_pattern_per_position"
            ),
        )
        indexes = (
            models.Index(fields=("project", "head"), name="core_pathpattern_by_head"),
            models.Index(
                fields=("project", "stale_since"), name="core_pathpattern_stale", condition=Q(stale__gt=0)
            ),
            # Counts the objects of a project that can be stale.
            models.Index(
                fields=("project",),
                name="core_pathpattern_first",
                condition=Q(position=0, pattern__gt=""),
            ),
        )

    def __str__(self) -> str:
        return self.pattern


class StaleCursor(ProjectRow):
    """The event up to which changes of files are counted in `PathPattern.stale`."""

    event_id = models.BigIntegerField()

    class Meta(ProjectRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project",), name="core_one_stale_cursor"),)

    def __str__(self) -> str:
        return f"e{self.event_id}"
