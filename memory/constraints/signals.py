"""Updates the ranks of constraints when their category is renamed."""

from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from ctxhub.core.vocabulary.models import Category
from memory.constraints.rows import update_ranks


@receiver(post_save, sender=Category)
def update_constraint_ranks(instance: Category, created: bool = False, **_: Any) -> None:
    if not created:
        update_ranks(instance.pk, instance.folded)
