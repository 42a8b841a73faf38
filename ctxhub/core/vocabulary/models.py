"""The words a project sorts its knowledge by: tags, scopes and categories are open; administrators keep
the layers.
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
    """What a constraint is about."""

    class Meta(NamedRow.Meta):
        verbose_name_plural = "categories"
        constraints = (
            models.UniqueConstraint(fields=("project", "folded"), name="core_one_category_per_name"),
        )


class Layer(NamedRow):
    """A layer of the architecture. `position` is the order in which a project lists them."""

    position = models.PositiveSmallIntegerField(default=0)

    class Meta(NamedRow.Meta):
        ordering = ("position", "id")
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_layer_per_name"),)
