"""What a project stores, for the page of use."""

from typing import Any

from django.utils.text import Truncator

from ctxhub.console import refs
from ctxhub.core.hub.direct_links import find_heads
from ctxhub.core.hub.stored import Large, largest_of, stored_of
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import Head
from ctxhub.core.models import Project

BEGINNING = 60


@frozen
class LargeObject:
    """`name`: its ref; `beginning`: of its text."""

    name: str
    beginning: str
    url: str | None
    bytes: int


def stored_context(project: Project, limit: int) -> dict[str, Any]:
    """Two statements, and one for the heads of each kind."""
    kinds, largest = stored_of(project.pk), largest_of(project.pk, limit)
    heads = find_heads(project.pk, {(each.kind, each.id) for each in largest})
    return {
        "stored": kinds,
        "stored_bytes": sum(kind.bytes for kind in kinds),
        "largest": [
            _object(each, heads[each.kind, each.id]) for each in largest if (each.kind, each.id) in heads
        ],
    }


def _object(large: Large, head: Head) -> LargeObject:
    beginning = " ".join(head.summary.split())
    url = refs.page_of_row(large.kind, large.id)
    return LargeObject(head.refs[0], Truncator(beginning).chars(BEGINNING), url, large.bytes)
