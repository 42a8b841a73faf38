"""A scratchpad: a text that several agents write to at once, and how it came to be what it is."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models.agent import Agent
from ctxhub.core.kit.models import ProjectRow
from memory.scratchpads.models.workflow import Workflow


class PadChange(models.IntegerChoices):
    """How a state of a scratchpad came about."""

    CREATED = 1, "created"
    APPENDED = 2, "appended"
    REPLACED = 3, "replaced"
    INSERTED = 4, "inserted"
    LINES_REPLACED = 5, "lines_replaced"
    SECTION_EXTENDED = 6, "section_extended"
    RESTORED = 7, "restored"


class Scratchpad(ProjectRow):
    """`length` counts characters, `size` bytes in UTF-8; `revision` is the number of its present state."""

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
        )

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        return f"scratchpad:{self.pk}"


class ScratchpadRevision(ProjectRow):
    """A state of a scratchpad, the present one included.

    `content` is None as long as nothing but appends has followed: this state is the beginning, `length`
    characters long, of the next state that has content; of the pad itself where none has.
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
