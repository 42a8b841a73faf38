"""The models of the vocabulary. Anyone adds tags, scopes and categories by using them; administrators
manage the layers.
"""

from django.db import models

from ctxhub.core.kit.models import NamedRow


class Tag(NamedRow):
    class Meta(NamedRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_tag_per_name"),)


class Scope(NamedRow):
    class Meta(NamedRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_scope_per_name"),)


class Category(NamedRow):
    """The subject of a constraint."""

    class Meta(NamedRow.Meta):
        verbose_name_plural = "categories"
        constraints = (
            models.UniqueConstraint(fields=("project", "folded"), name="core_one_category_per_name"),
        )


class Layer(NamedRow):
    """A layer of the architecture. `position` orders the layers of a project."""

    position = models.PositiveSmallIntegerField(default=0)

    class Meta(NamedRow.Meta):
        ordering = ("position", "id")
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_layer_per_name"),)
