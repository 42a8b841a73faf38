"""A relationship between two objects of any kind."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow


class Relation(models.IntegerChoices):
    RELATED = 1, "related"
    INCLUDES = 2, "includes"
    REFERENCES = 3, "references"
    DEPENDS_ON = 4, "depends_on"
    BLOCKS = 5, "blocks"


# A relation as the verb of a sentence about its source, and of one about its target.
RELATION_WORDS = {
    Relation.RELATED: ("is related to", "is related to"),
    Relation.INCLUDES: ("includes", "is part of"),
    Relation.REFERENCES: ("references", "is referenced by"),
    Relation.DEPENDS_ON: ("depends on", "is needed by"),
    Relation.BLOCKS: ("blocks", "is blocked by"),
}


class Relationship(ProjectRow):
    """Both ends are stored as kind and id. Deleting either end deletes the relationship."""

    Relation = Relation

    source_kind = models.CharField(max_length=20)
    source_id = models.PositiveBigIntegerField()
    target_kind = models.CharField(max_length=20)
    target_id = models.PositiveBigIntegerField()
    relation = models.PositiveSmallIntegerField(choices=Relation, default=Relation.RELATED)
    strength = models.PositiveSmallIntegerField(default=50, help_text="0 to 100.")
    is_found = models.BooleanField(default=False, editable=False, help_text="Suggested, not said.")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.RESTRICT, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-updated_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "source_kind", "source_id", "target_kind", "target_id", "relation"),
                name="memory_one_relation_of_two",
                violation_error_message="These two are related so already.",
            ),
            models.CheckConstraint(
                condition=models.Q(strength__lte=100), name="memory_strength_is_a_percentage"
            ),
        )
        indexes = (
            models.Index(
                fields=("project", "target_kind", "target_id"), name="memory_relationship_by_target"
            ),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.get_relation_display()} {self.target}"

    @property
    def source(self) -> str:
        return f"{self.source_kind}:{self.source_id}"

    @property
    def target(self) -> str:
        return f"{self.target_kind}:{self.target_id}"
