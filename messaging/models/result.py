"""Results of requests, by which the requests are found."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow
from messaging.models.message import Message


class Result(ProjectRow):
    """One of the `result_refs` of a message, as the number that `digest_of_ref` makes of it.

    Refs hold paths of up to 1,000 characters, more than an index of PostgreSQL takes.
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="results", db_index=False)
    digest = models.BigIntegerField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("message", "digest"), name="messaging_each_result_once"),
        )
        indexes = (
            models.Index(fields=("project", "digest", "message"), name="messaging_requests_by_result"),
        )

    def __str__(self) -> str:
        return f"{self.digest}"
