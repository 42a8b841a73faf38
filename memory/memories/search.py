"""Searches memories, with short excerpts that cost few tokens."""

from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.inputs import clean_choice, clean_name, clean_one_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.engines import Scope
from ctxhub.core.search.search import SearchResult, search
from ctxhub.toolbox.argument_types import AT_MOST_A_PAGE, About, Default, Number, Says, WithAnyTag
from memory.contexts.models import STACK_LENGTH
from memory.contexts.queries import get_context
from memory.memories.history import stack_word, type_word
from memory.memories.models import MemoryType
from memory.memories.queries import InContext, OfType, OnStack
from memory.memories.rows import LISTED, MEMORIES

DETAILS = ("compact", "standard", "detailed")
COLUMNS = (
    *("id", "title", "excerpt", "type", "context", "stack", "score", "tokens", "lines", "size", "stale"),
)
# Excerpts are made of the passages that match the query best.
EXCERPTS = "best_passages"


Detail = Annotated[
    str,
    Says("compact|standard|detailed", in_description=False),
    About("What title and excerpt may cost: compact (left out) 60 tokens, standard 120, detailed 250."),
]
BestLimit = Annotated[Number, Default(10), About("How many of the best; left out: 10.", AT_MOST_A_PAGE)]


class SearchArguments(TypedDict, total=False):
    """What `memory search` takes besides the query, before validation."""

    detail: Detail
    context: InContext | None
    type: OfType | None
    stack: OnStack | None
    tags: WithAnyTag | None
    limit: BestLimit


def search_memories(project_id: int, query: str, **given: Unpack[SearchArguments]) -> Listing:
    """The memories that match best; title and excerpt keep within the token budget of `detail`.

    The title of a text that a memory had before ends with "(was revision 2)".
    """
    context, type, stack = given.get("context"), given.get("type"), given.get("stack")
    found = search(
        project_id,
        query,
        detail=clean_one_of(given.get("detail", "compact"), DETAILS, "detail"),
        limit=given.get("limit", 10),
        kinds=["memory"],
        tags=given.get("tags"),
        within=scope_of(project_id, context=context, type=type, stack=stack),
    )
    return Listing(COLUMNS, _rows(project_id, found), extra=_extra(found))


def scope_of(
    project_id: int,
    *,
    context: str | int | None = None,
    type: str | int | None = None,
    stack: str | None = None,
) -> Scope:
    """The filters of a search over memories, as index terms."""
    scope = []
    if context not in (None, ""):
        scope.append([f"C{get_context(project_id, context).id}"])
    if type not in (None, ""):
        scope.append([type_word(clean_choice(type, MemoryType, "type"))])
    if stack:
        scope.append([stack_word(clean_name(stack, "stack", at_most=STACK_LENGTH))])
    return scope


def _rows(project_id: int, found: SearchResult) -> list[list[Any]]:
    ids = [hit.document.owner_id or hit.document.object_id for hit in found.hits]
    stored = MEMORIES.read(project_id, list(dict.fromkeys(ids)), LISTED)
    return [
        [
            *(row.id, hit.title, hit.excerpt, row.type_label, row.context, row.stack),
            *(hit.score, hit.tokens, hit.lines, hit.size, row.stale or None),
        ]
        for row_id, hit in zip(ids, found.hits, strict=True)
        if (row := stored.get(row_id))
    ]


def _extra(found: SearchResult) -> dict[str, Any]:
    tokens = sum(hit.tokens for hit in found.hits)
    did_you_mean = found.search.did_you_mean if found.search else None
    return {
        **found.total,
        "total_tokens": tokens,
        "avg_tokens": round(tokens / len(found.hits)) if found.hits else 0,
        "meta": {"search_method": found.method, "excerpt_strategy": EXCERPTS},
        **({"did_you_mean": did_you_mean} if did_you_mean else {}),
    }
