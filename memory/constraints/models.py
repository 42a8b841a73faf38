"""Models of constraints: rules that must hold, with their tags and scopes."""

from hashlib import sha256

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.kit.priority import Priority
from ctxhub.core.text.sentences import in_one_line, shortened
from ctxhub.core.vocabulary.models import Category, Layer, Scope, Tag

TITLE_LENGTH = 120


class ConstraintStatus(models.IntegerChoices):
    ACTIVE = 1, "active"
    INACTIVE = 2, "inactive"


def digest_of(text: str) -> str:
    """The SHA-256 of a text in hex, for the unique constraint: equal digests mean the same constraint."""
    return sha256(text.encode()).hexdigest()


def title_of(text: str) -> str:
    """The text in one line, or its beginning: what a constraint is called."""
    line = in_one_line(text)
    return line if len(line) <= TITLE_LENGTH else shortened(line, TITLE_LENGTH)


def rank_of(priority: int, category: str) -> str:
    """The first sort key of lists: critical before low, then the category's case-folded name."""
    return f"{max(Priority) - priority}{category.casefold()}"


class Constraint(ProjectRow):
    Status = ConstraintStatus

    category = models.ForeignKey(
        Category, on_delete=models.RESTRICT, related_name="constraints", db_index=False
    )
    text = models.TextField()
    digest = models.CharField(max_length=64, editable=False)
    rank = models.CharField(max_length=301, editable=False, default="")
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.MEDIUM)
    layer = models.ForeignKey(
        Layer, null=True, blank=True, on_delete=models.RESTRICT, related_name="constraints", db_index=False
    )
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="constraints", db_index=False
    )
    tags = models.ManyToManyField(Tag, through="ConstraintTag", related_name="constraints", blank=True)
    scopes = models.ManyToManyField(Scope, through="ConstraintScope", related_name="constraints", blank=True)
    paths = models.JSONField(default=list, blank=True, help_text="Globs of the files it bears on.")
    reason = models.TextField(blank=True, help_text="Why it must hold.")
    status = models.PositiveSmallIntegerField(choices=ConstraintStatus, default=ConstraintStatus.ACTIVE)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("rank", "-created_at", "-id")
        constraints = (
            # Category first: the uses of a category are counted without a project filter.
            models.UniqueConstraint(
                fields=("category", "digest", "project"),
                name="memory_one_constraint_per_text",
                violation_error_message="This category has a constraint of this text.",
            ),
        )
        # One index for each filter of a list, ending with the sort order.
        indexes = (
            models.Index(fields=("project", "rank", "-created_at", "-id"), name="memory_constraint_by_rank"),
            models.Index(
                fields=("project", "status", "rank", "-created_at", "-id"),
                name="memory_constraint_by_status",
            ),
            models.Index(
                fields=("project", "layer", "rank", "-created_at", "-id"), name="memory_constraint_by_layer"
            ),
            models.Index(
                fields=("project", "agent", "rank", "-created_at", "-id"), name="memory_constraint_by_agent"
            ),
        )

    def __str__(self) -> str:
        return title_of(self.text)

    @property
    def ref(self) -> str:
        return f"constraint:{self.pk}"


class ConstraintTag(ProjectRow):
    """A tag on a constraint. Copies the sort columns, so that one index lists the constraints of a tag."""

    constraint = models.ForeignKey(
        Constraint, on_delete=models.CASCADE, related_name="tag_links", db_index=False
    )
    tag = models.ForeignKey(Tag, on_delete=models.RESTRICT, related_name="constraint_links", db_index=False)
    rank = models.CharField(max_length=301, editable=False, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("constraint", "tag"), name="memory_one_tag_per_constraint"),
        )
        indexes = (
            models.Index(
                fields=("tag", "rank", "-created_at", "-constraint"), name="memory_constrainttag_by_rank"
            ),
        )

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.constraint_id}"


class ConstraintScope(ProjectRow):
    """A scope of a constraint; see ConstraintTag."""

    constraint = models.ForeignKey(
        Constraint, on_delete=models.CASCADE, related_name="scope_links", db_index=False
    )
    scope = models.ForeignKey(
        Scope, on_delete=models.RESTRICT, related_name="constraint_links", db_index=False
    )
    rank = models.CharField(max_length=301, editable=False, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("constraint", "scope"), name="memory_one_scope_per_constraint"),
        )
        indexes = (
            models.Index(
                fields=("scope", "rank", "-created_at", "-constraint"),
                name="memory_constraintscope_by_rank",
            ),
        )

    def __str__(self) -> str:
        return f"{self.scope_id} of {self.constraint_id}"
