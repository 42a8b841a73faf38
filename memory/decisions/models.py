"""Models of decisions: one value per key, versioned, with the reasons for it."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.vocabulary.models import Layer, Scope, Tag


class DecisionStatus(models.IntegerChoices):
    ACTIVE = 1, "active"
    DEPRECATED = 2, "deprecated"
    DRAFT = 3, "draft"


class ValueType(models.IntegerChoices):
    """The type that the text in `value` is converted to: 5 is read as 5, 5.5 as 5.5."""

    TEXT = 1, "text"
    INTEGER = 2, "integer"
    FLOAT = 3, "float"


class TypedValue(models.Model):
    """A string or a number: its exact text, its type, and the number for calculations."""

    value = models.TextField(blank=True)
    value_type = models.PositiveSmallIntegerField(choices=ValueType, default=ValueType.TEXT)
    number = models.FloatField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    @property
    def typed_value(self) -> str | int | float:
        return typed_value(self.value, self.value_type)


def typed_value(text: str, value_type: int) -> str | int | float:
    if value_type == ValueType.INTEGER:
        return int(text)
    return float(text) if value_type == ValueType.FLOAT else text


def version_order(version: str) -> str:
    """Return a sort key for a version: 1.0.9 before 1.0.10."""
    parts: list[str] = []
    number = ""
    for character in f"{version.lower()} ":
        if character.isascii() and character.isdigit():
            number += character
            continue
        if number:
            parts.append(number.zfill(12))
            number = ""
        parts.append(character)
    return "".join(parts).strip()


class Decision(TypedValue, ProjectRow):
    Status = DecisionStatus

    key = models.CharField(max_length=200)
    signature = models.BigIntegerField(null=True, editable=False, help_text="A hash of the words of the key.")
    version = models.CharField(max_length=50, default="1.0.0")
    version_order = models.CharField(max_length=600, editable=False, default="")
    status = models.PositiveSmallIntegerField(choices=DecisionStatus, default=DecisionStatus.ACTIVE)
    layer = models.ForeignKey(
        Layer, null=True, blank=True, on_delete=models.RESTRICT, related_name="decisions", db_index=False
    )
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="decisions", db_index=False
    )
    tags = models.ManyToManyField(Tag, through="DecisionTag", related_name="decisions", blank=True)
    scopes = models.ManyToManyField(Scope, through="DecisionScope", related_name="decisions", blank=True)
    paths = models.JSONField(default=list, blank=True, help_text="Globs of the files this decision bears on.")
    rationale = models.TextField(blank=True)
    alternatives = models.JSONField(default=list, blank=True, help_text="Texts, or {option, why_not}.")
    tradeoffs = models.JSONField(default=dict, blank=True, help_text="{pros: [...], cons: [...]}.")
    metadata = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True, help_text="Why it was deprecated.")
    superseded_by = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="supersedes",
        db_index=False,
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-updated_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "key"),
                name="memory_one_decision_per_key",
                violation_error_message="A decision with this key exists.",
            ),
        )
        # One index for each filter of a list, ending with the sort order; the status is filtered in the scan.
        indexes = (
            models.Index(fields=("project", "-updated_at", "-id"), name="memory_decision_newest"),
            models.Index(fields=("project", "layer", "-updated_at", "-id"), name="memory_decision_by_layer"),
            models.Index(fields=("project", "agent", "-updated_at", "-id"), name="memory_decision_by_agent"),
            models.Index(
                fields=("project", "status", "-updated_at", "-id"), name="memory_decision_by_status"
            ),
            models.Index(fields=("project", "version_order", "id"), name="memory_decision_by_version"),
            models.Index(fields=("project", "signature", "id"), name="memory_decision_by_words"),
            models.Index(
                fields=("superseded_by",),
                condition=models.Q(superseded_by__isnull=False),
                name="memory_decision_superseded",
            ),
        )

    def __str__(self) -> str:
        return self.key

    @property
    def ref(self) -> str:
        return f"decision:{self.key}"


class DecisionTag(ProjectRow):
    """A tag on a decision. Copies `updated_at`, so that one index lists the newest decisions of a tag."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="tag_links", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.RESTRICT, related_name="decision_links", db_index=False)
    updated_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("decision", "tag"), name="memory_one_tag_per_decision"),
        )
        indexes = (
            models.Index(fields=("tag", "-updated_at", "-decision"), name="memory_decisiontag_newest"),
        )

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.decision_id}"


class DecisionScope(ProjectRow):
    """A scope of a decision; see DecisionTag."""

    decision = models.ForeignKey(
        Decision, on_delete=models.CASCADE, related_name="scope_links", db_index=False
    )
    scope = models.ForeignKey(Scope, on_delete=models.RESTRICT, related_name="decision_links", db_index=False)
    updated_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("decision", "scope"), name="memory_one_scope_per_decision"),
        )
        indexes = (
            models.Index(fields=("scope", "-updated_at", "-decision"), name="memory_decisionscope_newest"),
        )

    def __str__(self) -> str:
        return f"{self.scope_id} of {self.decision_id}"


class DecisionRevision(TypedValue, ProjectRow):
    """A decision before a change. `data` holds its other fields, by their names in tools and REST."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    version = models.CharField(max_length=50)
    status = models.PositiveSmallIntegerField(choices=DecisionStatus)
    agent = models.ForeignKey(Agent, null=True, on_delete=models.RESTRICT, related_name="+", db_index=False)
    at = models.DateTimeField(help_text="When this version was written.")
    data = models.JSONField(default=dict)

    class Meta(ProjectRow.Meta):
        ordering = ("-id",)
        indexes = (models.Index(fields=("decision", "-id"), name="memory_revision_newest"),)

    def __str__(self) -> str:
        return f"{self.decision_id} {self.version}"
