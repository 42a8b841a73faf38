"""Reads contexts: lists of them, and one by its name or id."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import author_id
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_name, clean_query, read_id
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import Ordering
from ctxhub.core.kit.pages import Condition, ListPlan, Page, in_order
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.registry import name_of_ref
from ctxhub.core.search.alternatives import ids_with_words
from ctxhub.toolbox.argument_types import About, Author, Time
from memory.contexts.inputs import is_number, number_of
from memory.contexts.rows import CONTEXTS, ContextRow, find_named, ids_of_names, newest_names

# Names compared for a `did_you_mean`.
NAMES = 1_000


class ListedContext(TypedDict):
    id: int
    name: str
    memories: Annotated[int, About("How many it holds.")]
    stack: str
    tags: list[str]
    updated: Annotated[Time, About("When it or one of its memories was last written.")]


class Context(ListedContext):
    description: str
    metadata: dict[str, Any]
    agent: Author
    created: Time


def find_context(project_id: int, name_or_id: str | int) -> ContextRow | None:
    """The context of a name, compared without case, or of an id (all digits); None if there is none."""
    name = clean_name(name_of_ref(str(name_or_id), "context"), "context")
    if is_number(name):
        row_id = read_id(number_of(name))
        return CONTEXTS.read(project_id, [row_id]).get(row_id) if row_id else None
    return find_named(project_id, name.casefold())


def get_context(project_id: int, name_or_id: str | int) -> ContextRow:
    """The same as `find_context`, but raises NotFound with the nearest names."""
    if found := find_context(project_id, name_or_id):
        return found
    raise unknown_context(str(name_or_id), newest_names(project_id, NAMES))


def find_named_contexts(project_id: int, names: Sequence[str]) -> Mapping[str, ContextRow | NotFound]:
    """The contexts of refs, which hold names or ids, and the errors for unknown ones."""
    ids = ids_of_contexts(project_id, names)
    rows = CONTEXTS.read(project_id, list(dict.fromkeys(ids.values())))
    known = newest_names(project_id, NAMES) if len(ids) < len(set(names)) else ()
    return {name: rows[ids[name]] if name in ids else unknown_context(name, known) for name in names}


def unknown_context(name: str, names: Sequence[str]) -> NotFound:
    """The error for an unknown name or id, with the nearest of `names`."""
    message = f"There is no context {shown(name)}."
    return for_readers(
        NotFound(
            message,
            hint=f"{operation('memory contexts')} lists those there are.",
            did_you_mean=nearest(name, names),
        ),
        otherwise=message,
    )


def ids_of_contexts(project_id: int, names: Sequence[str]) -> Mapping[str, int]:
    """The ids of the contexts of refs, which hold names or ids. Unknown ones are left out."""
    numbers = {name: row_id for name in names if is_number(name) and (row_id := read_id(number_of(name)))}
    texts = [name for name in names if not is_number(name)]
    named = ids_of_names(project_id, [name.casefold() for name in texts]) if texts else {}
    existing = CONTEXTS.read(project_id, list(numbers.values()))
    return {
        **{name: row_id for name, row_id in numbers.items() if row_id in existing},
        **{name: named[name.casefold()] for name in texts if name.casefold() in named},
    }


def context_item(row: ContextRow) -> dict[str, Any]:
    """A context as tools and REST show it."""
    return dict(
        Context(
            id=row.id,
            name=row.name,
            description=row.description,
            memories=row.memory_count,
            stack=row.stack,
            tags=list(row.tags),
            metadata=dict(row.metadata),
            agent=row.agent,
            created=format_time(row.created_at),
            updated=format_time(row.updated_at),
        )
    )


def open_contexts(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items of refs: complete if `full`, else a digest."""
    ids = ids_of_contexts(project_id, names)
    found = CONTEXTS.read(project_id, list(set(ids.values())))
    return {
        name: context_item(found[row_id]) if full else _digest(found[row_id])
        for name, row_id in ids.items()
        if row_id in found
    }


def _digest(row: ContextRow) -> dict[str, Any]:
    return {"name": row.name, "description": preview(row.description), "memories": row.memory_count}


# What the list can be ordered by: what an index has.
ORDERS = {"updated": ["updated_at"], "name": ["folded"]}
COLUMNS = ("id", "name", "memories", "stack", "tags", "updated")


def find_contexts(
    project_id: int,
    *,
    text: str | None = None,
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Page[ContextRow]:
    """A page of the contexts, the last written to first; `text`: only those that have all its words."""
    plan = in_order(_plan(project_id, text, by), ordering, ORDERS)
    return CONTEXTS.page(project_id, plan, limit=limit, cursor=cursor)


def list_contexts(project_id: int, **query: Any) -> Listing:
    page = find_contexts(project_id, **query)
    rows = [
        [
            *(row.id, preview(row.name), row.memory_count, row.stack, list(row.tags)),
            format_time(row.updated_at),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, text: str | None, by: str | None) -> ListPlan:
    conditions: list[Condition] = [("d.agent_id = %s", [author_id(project_id, by)])] if by else []
    if not text:
        return ListPlan(conditions)
    ids = ids_with_words(project_id, "context", clean_query(text, "text"))
    total = None if by else len(ids)
    return ListPlan([*conditions, sql.among("d.id", ids)], total=total, is_empty=not ids)
