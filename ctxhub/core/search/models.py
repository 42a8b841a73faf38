"""The index of everything: one entry for each findable thing, and beside it the words to look it up by."""

from typing import Any

from django.db import models

from ctxhub.core.kit.models import ProjectRow


class SearchEntry(ProjectRow):
    """The thing of `kind` whose row has the id `object_id`. Title and text stay where they are."""

    kind = models.CharField(max_length=30)
    object_id = models.BigIntegerField()
    ref = models.TextField()
    updated_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "search entries"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "kind", "object_id"), name="core_one_search_entry_per_thing"
            ),
        )

    def __str__(self) -> str:
        return self.ref


class RowIdField(models.BigIntegerField):  # type: ignore[type-arg]  # Django knows none at run time.
    """A key by which SQLite finds rows at once: there an "integer" is the row's own id, a "bigint" is not."""

    def db_type(self, connection: Any) -> str | None:
        return "integer" if connection.vendor == "sqlite" else super().db_type(connection)


class SearchText(ProjectRow):
    """One passage of an entry, as the analyser's words; its id holds the entry's: `entry * PARTS + part`.

    Alter this table as migration 0007 does: on SQLite Django rebuilds an altered one, and without a word
    drops the triggers that keep the index in step. `scope` holds the words that narrow a search, `start` is
    where the passage begins, `size` counts its words.
    """

    PARTS = 1024

    id = RowIdField(primary_key=True)
    start = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(default=0)
    words = models.TextField()
    scope = models.TextField()

    def __str__(self) -> str:
        return f"{self.pk // self.PARTS}/{self.pk % self.PARTS}"


class SearchWord(ProjectRow):
    """A word as somebody wrote it, to put a mistyped one right. Each project knows its own words only.

    `entry_id` is one of the entries that have it: with the last of them it goes, as a secret must.
    """

    word = models.CharField(max_length=30)
    entry_id = models.BigIntegerField()

    class Meta(ProjectRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "word"), name="core_one_search_word"),)
        indexes = (models.Index(fields=("entry_id",), name="core_searchword_of_entry"),)

    def __str__(self) -> str:
        return self.word
