"""Counts the objects of all apps that use a tag, scope, category or layer."""

from typing import Any

from django.db.models import Count, IntegerField, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from ctxhub.core.kit.models import NamedRow


def with_uses(words: QuerySet[Any]) -> QuerySet[Any]:
    """The words, each with `uses`. One subquery for each relation: joins would multiply the counts."""
    counts = [_count_of(model, field) for model, field in _relations(words.model)]
    total: Any = sum(counts, Value(0, output_field=IntegerField()))
    counted: QuerySet[Any] = words.annotate(uses=total)
    return counted


def count_uses(word: NamedRow) -> int:
    return sum(
        model._base_manager.filter(**{field: word.pk}).count() for model, field in _relations(type(word))
    )


def _relations(model: type[Model]) -> list[tuple[type[Model], str]]:
    return [
        (relation.related_model, relation.field.name)
        for relation in model._meta.related_objects
        if relation.one_to_many and isinstance(relation.related_model, type)
    ]


def _count_of(model: type[Model], field: str) -> Coalesce:
    linked = model._base_manager.filter(**{field: OuterRef("pk")}).order_by().values(field)
    if _has_index_by_project(model, field):
        linked = linked.filter(project=OuterRef("project"))
    return Coalesce(Subquery(linked.annotate(count=Count("pk")).values("count")), 0)


def _has_index_by_project(model: type[Model], field: str) -> bool:
    """Whether an index begins with project and word: true for foreign keys, false for link tables."""
    return any(index.fields[:2] == ["project", field] for index in model._meta.indexes)
