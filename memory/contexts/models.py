"""A context: a named container of memories."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import NamedRow, ProjectRow
from ctxhub.core.vocabulary.models import Tag

STACK_LENGTH = 100


class Context(NamedRow):
    """`memory_count` and `updated_at` follow every write of its memories; `changed_at` does not."""

    name = models.CharField(max_length=200)
    folded = models.CharField(max_length=600, editable=False)
    description = models.TextField(blank=True)
    stack = models.CharField(
        max_length=STACK_LENGTH, blank=True, help_text="What it is about: django, react19."
    )
    tags = models.ManyToManyField(Tag, through="ContextTag", related_name="contexts", blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    memory_count = models.PositiveIntegerField(default=0, editable=False)
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="contexts", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(NamedRow.Meta):
        ordering = ("-updated_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "folded"),
                name="memory_one_context_per_name",
                violation_error_message="A context with this name exists.",
            ),
        )
        indexes = (models.Index(fields=("project", "-updated_at", "-id"), name="memory_context_by_time"),)

    @property
    def ref(self) -> str:
        return f"context:{self.pk}"


class ContextTag(ProjectRow):
    context = models.ForeignKey(Context, on_delete=models.CASCADE, related_name="tag_links", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.RESTRICT, related_name="context_links")

    class Meta(ProjectRow.Meta):
        constraints = (models.UniqueConstraint(fields=("context", "tag"), name="memory_one_tag_per_context"),)

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.context_id}"
