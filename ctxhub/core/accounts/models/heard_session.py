"""The model of heard sessions: the windows and subagents of agents, and when each was last heard of."""

from django.db import models

from ctxhub.core.kit.inputs import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow


class HeardSession(ProjectRow):
    """A session as the calls of an agent name it; it may hold leases without ever being saved.

    `folded`: the agent's case-folded name. `made_up`: a process chose the session's name. `now_called`: the
    name under which the window goes on, "" while it is its own.
    """

    folded = models.CharField(max_length=300, editable=False)
    name = models.CharField(max_length=SESSION_NAME_LENGTH)
    made_up = models.BooleanField(default=False)
    now_called = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True)
    heard_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("project", "folded", "name"), name="core_one_heard_session"),
        )
        indexes = (models.Index(fields=("project", "heard_at"), name="core_session_heard"),)

    def __str__(self) -> str:
        return self.name
