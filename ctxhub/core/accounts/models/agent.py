"""The model of agents: named AI workers (or people) of a project, registered on their first call."""

from django.db import models

from ctxhub.core.kit.models import NamedRow


class Agent(NamedRow):
    class Kind(models.IntegerChoices):
        AGENT = 1, "agent"
        HUMAN = 2, "human"

    kind = models.PositiveSmallIntegerField(choices=Kind, default=Kind.AGENT)
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta(NamedRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_agent_per_name"),)
        indexes = (models.Index(fields=("project", "-last_seen_at"), name="core_agent_last_seen"),)
