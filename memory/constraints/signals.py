"""Keeps the ranks of constraints in step with the names of their categories."""

from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from ctxhub.core.vocabulary.models import Category
from memory.constraints.rows import rank_again


@receiver(post_save, sender=Category)
def follow_the_name(instance: Category, created: bool = False, **_: Any) -> None:
    """The constraints of a renamed category move in the lists."""
    if not created:
        rank_again(instance.pk, instance.folded)
