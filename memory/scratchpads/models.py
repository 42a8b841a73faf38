"""A scratchpad, a text that several agents write to at once, and its revisions."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.kit.models import ProjectRow
from memory.workflows.models import Workflow

# Nine tenths of what a pad holds.
NEARLY_FULL_BYTES = CONTENT_BYTES * 9 // 10


class PadChange(models.IntegerChoices):
    """The kind of change that made a state of a scratchpad."""

    CREATED = 1, "created"
    APPENDED = 2, "appended"
    REPLACED = 3, "replaced"
    INSERTED = 4, "inserted"
    LINES_REPLACED = 5, "lines_replaced"
    SECTION_EXTENDED = 6, "section_extended"
    RESTORED = 7, "restored"


class Scratchpad(ProjectRow):
    """`length` counts characters, `size` bytes in UTF-8; `revision` is the number of its current state."""

    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="scratchpads", db_index=False
    )
    name = models.CharField(max_length=200)
    content = models.TextField(blank=True)
    length = models.PositiveIntegerField(default=0, editable=False)
    size = models.PositiveIntegerField(default=0, editable=False)
    revision = models.PositiveIntegerField(default=1, editable=False)
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="scratchpads", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("workflow", "id")
        indexes = (
            # The workflow first: its pads are counted without a project.
            models.Index(fields=("workflow", "id"), name="memory_scratchpad_by_workflow"),
            models.Index(fields=("project", "-updated_at", "-id"), name="memory_scratchpad_by_time"),
            models.Index(
                fields=("project", "size"),
                condition=models.Q(size__gte=NEARLY_FULL_BYTES),
                name="memory_scratchpad_nearly_full",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        return f"scratchpad:{self.pk}"


class ScratchpadRevision(ProjectRow):
    """A state of a scratchpad, including the current one.

    `content` is None as long as only appends have followed: the text of this state is then the first `length`
    characters of the next state that has content, or of the pad itself if none has.
    """

    Change = PadChange

    scratchpad = models.ForeignKey(
        Scratchpad, on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    number = models.PositiveIntegerField()
    change = models.PositiveSmallIntegerField(choices=PadChange)
    length = models.PositiveIntegerField()
    content = models.TextField(null=True)  # noqa: DJ001  # An empty text is a state as well.
    agent = models.ForeignKey(Agent, null=True, on_delete=models.RESTRICT, related_name="+", db_index=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("scratchpad", "-number")
        constraints = (
            models.UniqueConstraint(fields=("scratchpad", "number"), name="memory_one_state_per_number"),
        )

    def __str__(self) -> str:
        return f"{self.scratchpad_id} as it was at {self.number}"
