"""Model of templates: default and required fields for decisions of one kind."""

from django.db import models
from django.utils import timezone

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit.models import NamedRow


class DecisionTemplate(NamedRow):
    """A project's own template. It overrides a built-in one of the same name."""

    name = models.CharField(max_length=200)
    folded = models.CharField(max_length=600, editable=False)
    defaults = models.JSONField(default=dict, blank=True, help_text="Arguments of `set`, by their names.")
    require = models.JSONField(
        default=list, blank=True, help_text="What has to be said: arguments of `set`, or names in metadata."
    )
    patterns = models.JSONField(
        default=dict, blank=True, help_text="A regular expression for each field that has to match one."
    )
    agent = models.ForeignKey(Agent, null=True, on_delete=models.RESTRICT, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(NamedRow.Meta):
        verbose_name = "template"
        ordering = ("folded",)
        constraints = (
            models.UniqueConstraint(
                fields=("project", "folded"),
                name="memory_one_template_per_name",
                violation_error_message="A template with this name exists.",
            ),
        )

    @property
    def ref(self) -> str:
        return f"template:{self.name}"
