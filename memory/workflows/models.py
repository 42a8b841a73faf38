"""A workflow: a piece of work that several agents share scratchpads for."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import ProjectRow


class Workflow(ProjectRow):
    """The cleanup deletes a workflow idle for the project's `scratchpad_days`, unless it `is_kept`."""

    name = models.CharField(max_length=200, blank=True)
    metadata = models.JSONField(default=dict, blank=True, help_text='{"keep": "never"} spares it for ever.')
    is_active = models.BooleanField(default=True, help_text="The pads of a closed one can only be read.")
    is_kept = models.BooleanField(default=False, editable=False)
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="workflows", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-updated_at", "-id")
        indexes = (
            models.Index(fields=("project", "-updated_at", "-id"), name="memory_workflow_by_time"),
            models.Index(
                fields=("project", "is_active", "-updated_at", "-id"), name="memory_workflow_by_active"
            ),
            # For the cleanup: finds idle workflows.
            models.Index(fields=("project", "is_kept", "updated_at"), name="memory_workflow_by_rest"),
        )

    def __str__(self) -> str:
        return self.name or f"workflow {self.pk}"

    @property
    def ref(self) -> str:
        return f"workflow:{self.pk}"
