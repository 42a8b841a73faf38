"""Stored answers of writes with a request id, so that a retry returns the same and writes nothing."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow


class StoredAnswer(ProjectRow):
    agent = models.CharField(max_length=300, help_text="The agent's name, case-folded.")
    request_id = models.CharField(max_length=200)
    digest = models.CharField(
        max_length=64, db_default="", help_text="Of the operation and its arguments; empty: unknown."
    )
    answer = models.JSONField()
    created_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        app_label = "core"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "agent", "request_id"), name="core_one_answer_per_request"
            ),
        )
        indexes = (models.Index(fields=("created_at",), name="core_answer_oldest"),)

    def __str__(self) -> str:
        return f"{self.agent}: {self.request_id}"
