"""Paginated lists of a project's words: tags, scopes and categories by use, layers in their order."""

from django.db.models import Q

from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.selectors.uses import with_uses

COLUMNS = ("name", "uses")


def list_words(
    words: type[Tag] | type[Scope] | type[Category],
    project_id: int,
    *,
    limit: int = 20,
    cursor: str | None = None,
) -> Listing:
    """Tags, scopes or categories, most used first: rows name, uses."""
    limit = clean_limit(limit)
    everything = words.objects.in_project(project_id)
    counted = with_uses(everything)
    if cursor:
        uses, row_id = read_cursor(cursor, int, int)
        counted = counted.filter(Q(uses__lt=uses) | Q(uses=uses, pk__gt=row_id))
    found = list(counted.order_by("-uses", "pk").values_list("name", "uses", "pk")[: limit + 1])
    return Listing(
        columns=COLUMNS,
        rows=[[name, uses] for name, uses, _ in found[:limit]],
        next=make_cursor(*found[limit - 1][1:]) if len(found) > limit else None,
        extra=total_of(everything[: COUNTED_TO + 1].count()),
        cursor_after=lambda count: make_cursor(*found[count - 1][1:]),
    )


def list_layers(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """Layers, in the project's order: rows name, uses."""
    limit = clean_limit(limit)
    everything = Layer.objects.in_project(project_id)
    layers = with_uses(everything)
    if cursor:
        position, row_id = read_cursor(cursor, int, int)
        layers = layers.filter(Q(position__gt=position) | Q(position=position, pk__gt=row_id))
    found = list(layers.order_by("position", "pk").values_list("name", "uses", "position", "pk")[: limit + 1])
    return Listing(
        columns=COLUMNS,
        rows=[[name, uses] for name, uses, _, _ in found[:limit]],
        next=make_cursor(*found[limit - 1][2:]) if len(found) > limit else None,
        extra=total_of(everything[: COUNTED_TO + 1].count()),
        cursor_after=lambda count: make_cursor(*found[count - 1][2:]),
    )
