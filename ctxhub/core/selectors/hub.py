"""The hub at a glance: figures, agents, vocabulary."""

from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce

from ctxhub.core import nouns
from ctxhub.core.clock import spoken
from ctxhub.core.inputs import MAX_LIMIT, clean_limit
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.models import Agent, Layer, Scope, Tag
from ctxhub.core.selectors.word_uses import with_uses

WORDS_SHOWN = 200
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def count_all(project_id: int) -> dict[str, Any]:
    """The contract's `stats`: a figure for each noun, [active, all] where that differs."""
    return {noun.plural: noun.count(project_id) for noun in nouns.all_nouns()}


def list_agents(project_id: int, *, limit: int = MAX_LIMIT, cursor: str | None = None) -> Listing:
    """The agents of a project, last seen first: rows name, last_seen."""
    limit = clean_limit(limit)
    everyone = Agent.objects.in_project(project_id)
    agents = everyone.annotate(seen=Coalesce("last_seen_at", Value(NEVER)))
    if cursor:
        seen, row_id = read_cursor(cursor, datetime, int)
        agents = agents.filter(Q(seen__lt=seen) | Q(seen=seen, pk__gt=row_id))
    found = list(
        agents.order_by("-seen", "pk").values_list("name", "last_seen_at", "seen", "pk")[: limit + 1]
    )
    places = [(seen.isoformat(), row_id) for _, _, seen, row_id in found]
    return Listing(
        columns=("name", "last_seen"),
        rows=[[name, spoken(last_seen) if last_seen else None] for name, last_seen, _, _ in found[:limit]],
        next=make_cursor(*places[limit - 1]) if len(found) > limit else None,
        extra=total_of(everyone[: COUNTED_TO + 1].count()),
        cursor_after=lambda count: make_cursor(*places[count - 1]),
    )


def count_vocabulary(project_id: int) -> dict[str, dict[str, int]]:
    """Layers (in their order), tags and scopes (most used first), each with how many things use it."""
    return {
        "layers": _used(Layer.objects.in_project(project_id), "position", "pk"),
        "tags": _used(Tag.objects.in_project(project_id), "-uses", "name"),
        "scopes": _used(Scope.objects.in_project(project_id), "-uses", "name"),
    }


def _used(words: QuerySet[Any], *order: str) -> dict[str, int]:
    return dict(with_uses(words).order_by(*order).values_list("name", "uses")[:WORDS_SHOWN])
