"""A memory, a piece of knowledge in a context, and its revisions."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.vocabulary.models import Tag
from memory.contexts.models import STACK_LENGTH, Context

TITLE_LENGTH = 500
DIGEST_LENGTH = 100


class MemoryType(models.IntegerChoices):
    NOTE = 1, "note"
    CONVERSATION = 2, "conversation"
    SNIPPET = 3, "snippet"
    REFERENCE = 4, "reference"
    TASK = 5, "task"
    IDEA = 6, "idea"


class Difficulty(models.IntegerChoices):
    EASY = 1, "easy"
    NORMAL = 2, "normal"
    HARD = 3, "hard"


class Memory(ProjectRow):
    """`digest`: the first sentence. `tokens` counts title and content; `revision` numbers their states."""

    Type = MemoryType
    Difficulty = Difficulty

    context = models.ForeignKey(Context, on_delete=models.CASCADE, related_name="memories", db_index=False)
    title = models.CharField(max_length=TITLE_LENGTH)
    content = models.TextField()
    digest = models.CharField(max_length=DIGEST_LENGTH, editable=False, blank=True)
    tokens = models.PositiveIntegerField(default=0, editable=False)
    revision = models.PositiveIntegerField(default=1, editable=False)
    type = models.PositiveSmallIntegerField(choices=MemoryType, default=MemoryType.NOTE)
    difficulty = models.PositiveSmallIntegerField(choices=Difficulty, null=True, blank=True)
    stack = models.CharField(
        max_length=STACK_LENGTH, blank=True, help_text="What it is about: django, react19."
    )
    folded_stack = models.CharField(max_length=3 * STACK_LENGTH, editable=False, blank=True)
    tags = models.ManyToManyField(Tag, through="MemoryTag", related_name="memories", blank=True)
    paths = models.JSONField(default=list, blank=True, help_text="Globs of the files it bears on.")
    metadata = models.JSONField(default=dict, blank=True)
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="memories", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "memories"
        ordering = ("-updated_at", "-id")
        # Each list uses an index that ends in its order.
        indexes = (
            models.Index(fields=("project", "-updated_at", "-id"), name="memory_memory_by_time"),
            # The context first: deleting a context cascades to its memories.
            models.Index(fields=("context", "-updated_at", "-id"), name="memory_memory_by_context"),
            models.Index(fields=("project", "agent", "-updated_at", "-id"), name="memory_memory_by_agent"),
            models.Index(fields=("project", "type", "-updated_at", "-id"), name="memory_memory_by_type"),
            models.Index(
                fields=("project", "folded_stack", "-updated_at", "-id"), name="memory_memory_by_stack"
            ),
            models.Index(
                fields=("project", "difficulty", "-updated_at", "-id"),
                condition=models.Q(difficulty__isnull=False),
                name="memory_memory_by_difficulty",
            ),
        )

    def __str__(self) -> str:
        return self.title if len(self.title) <= 80 else f"{self.title[:80].rstrip()}…"

    @property
    def ref(self) -> str:
        return f"memory:{self.pk}"


class MemoryRevision(ProjectRow):
    """A state of a memory: its title and content, who wrote them and when.

    The current state has a row from the second on; its title and content are None, as the memory has them.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=TITLE_LENGTH, null=True)  # noqa: DJ001
    content = models.TextField(null=True)  # noqa: DJ001
    tokens = models.PositiveIntegerField()
    agent = models.ForeignKey(Agent, null=True, on_delete=models.RESTRICT, related_name="+", db_index=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("memory", "-number")
        constraints = (
            models.UniqueConstraint(fields=("memory", "number"), name="memory_one_revision_per_number"),
        )

    def __str__(self) -> str:
        return f"{self.memory_id} as it was at {self.number}"


class MemoryTag(ProjectRow):
    """A tag of a memory. Repeats `updated_at`, so that a list by tag is one index scan in order."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="tag_links", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.RESTRICT, related_name="memory_links", db_index=False)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        constraints = (models.UniqueConstraint(fields=("memory", "tag"), name="memory_one_tag_per_memory"),)
        indexes = (models.Index(fields=("tag", "-updated_at", "-memory"), name="memory_memorytag_by_time"),)

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.memory_id}"
