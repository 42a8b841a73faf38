"""Paginated lists of a project's words: tags, scopes and categories by use, layers in their order."""

from typing import Any

from django.db.models import QuerySet

from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.selectors.uses import with_uses


def words_of(words: type[Tag] | type[Scope] | type[Category], project_id: int) -> QuerySet[Any]:
    """Tags, scopes or categories with their `uses`, most used first."""
    return with_uses(words.objects.in_project(project_id)).order_by("-uses")


def layers_of(project_id: int) -> QuerySet[Any]:
    """Layers with their `uses`, in the project's order."""
    return with_uses(Layer.objects.in_project(project_id)).order_by("position")


def list_words(words: QuerySet[Any], *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A page of words: rows name, uses."""
    return page_of(
        words,
        ("name", "uses"),
        lambda found: [[word.name, word.uses] for word in found],
        limit=limit,
        cursor=cursor,
    )
