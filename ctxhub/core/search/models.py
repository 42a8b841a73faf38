"""The tables of the search index: one entry for each searchable object, its passages, the vocabulary."""

from typing import Any

from django.db import models

from ctxhub.core.kit.models import ProjectRow


class SearchEntry(ProjectRow):
    """An indexed object: the row `object_id` of the noun `kind`. Title and text stay in that row."""

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
    """A primary key that SQLite uses as rowid: there only an "integer" key is one, a "bigint" is not."""

    def db_type(self, connection: Any) -> str | None:
        return "integer" if connection.vendor == "sqlite" else super().db_type(connection)


class SearchText(ProjectRow):
    """One passage of an entry, as the analyser's words. Its id is `entry_id * PARTS + part`.

    Alter this table as migration 0007 does: on SQLite Django rebuilds an altered table, which would drop the
    triggers that update the index; the view over it prevents that. `scope`: the words that filters match;
    `start`: offset of the passage in the text, in characters; `size`: its number of words.
    """

    PARTS = 1024

    id = RowIdField(primary_key=True)
    start = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(default=0)
    words = models.TextField()
    scope = models.TextField()

    def __str__(self) -> str:
        return f"{self.pk // self.PARTS}/{self.pk % self.PARTS}"


class TermCount(ProjectRow):
    """How many passages of a large project had a common term when they were counted."""

    term = models.TextField()
    count = models.PositiveIntegerField()
    counted_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "term"), name="core_one_term_count"),)

    def __str__(self) -> str:
        return f"{self.term}: {self.count}"


class SearchWord(ProjectRow):
    """An unstemmed word of a project's texts, for spelling correction within that project.

    `entry_id` is one of the entries that have it. With the last of them the word is deleted, as it may be
    a secret.
    """

    word = models.CharField(max_length=30)
    entry_id = models.BigIntegerField()

    class Meta(ProjectRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "word"), name="core_one_search_word"),)
        indexes = (models.Index(fields=("entry_id",), name="core_searchword_of_entry"),)

    def __str__(self) -> str:
        return self.word
