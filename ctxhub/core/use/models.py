"""The models of use: a row for each agent, operation and hour, and one for each search that found nothing."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow

OPERATION_LENGTH = 100
QUERY_LENGTH = 200


class TokenUse(ProjectRow):
    """The calls of an operation by an agent within an hour, and the tokens of their answers.

    The agent is stored by name: counting registers nobody. `name` and `operation` are "" for what came in an
    hour with too many of them. `whole_tokens`: what the same answers would have cost with everything behind
    them opened whole; the same as `tokens` where nothing is left out. `most_tokens`: of the longest answer.
    """

    name = models.CharField("agent", max_length=100)
    folded = models.CharField(max_length=300, editable=False)
    operation = models.CharField(max_length=OPERATION_LENGTH)
    writes = models.BooleanField()
    hour = models.DateTimeField()
    calls = models.PositiveIntegerField()
    errors = models.PositiveIntegerField()
    tokens = models.PositiveBigIntegerField()
    whole_tokens = models.PositiveBigIntegerField()
    most_tokens = models.PositiveIntegerField()

    class Meta(ProjectRow.Meta):
        verbose_name = verbose_name_plural = "use"
        constraints = (
            # Also finds a range of time, and what is to be deleted.
            models.UniqueConstraint(
                fields=("project", "hour", "folded", "operation"), name="core_one_use_an_hour"
            ),
        )
        indexes = (models.Index(fields=("project", "folded", "hour"), name="core_tokenuse_by_agent"),)

    def __str__(self) -> str:
        return f"{self.name}: {self.operation}"


class EmptySearch(ProjectRow):
    """A question that found nothing: how often it was asked, and who asked last."""

    query = models.CharField("question", max_length=QUERY_LENGTH)
    folded = models.CharField(max_length=3 * QUERY_LENGTH, editable=False)
    name = models.CharField("last asked by", max_length=100)
    count = models.PositiveIntegerField("times")
    first_at = models.DateTimeField("first")
    last_at = models.DateTimeField("last")

    class Meta(ProjectRow.Meta):
        verbose_name = "search that found nothing"
        verbose_name_plural = "searches that found nothing"
        ordering = ("-last_at", "-id")
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_empty_search"),)
        indexes = (models.Index(fields=("project", "-last_at", "-id"), name="core_emptysearch_newest"),)

    def __str__(self) -> str:
        return self.query
