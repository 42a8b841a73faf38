"""Lists constraints with every filter, and reads them by id and ref."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Unpack

from django.db import connection

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown, unknown_word
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_choice, clean_match, clean_name, read_id
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import Ordering
from ctxhub.core.kit.pages import Condition, ListPlan, few_linked, in_order, link_filters
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.paths.rows import shown_staleness, stale_filter
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, ids_of, scope_ids_of
from ctxhub.core.vocabulary.tag_filters import read_tag_filters
from ctxhub.toolbox.argument_types import (
    About,
    Author,
    ByAgent,
    Cursor,
    Default,
    InLayer,
    InScope,
    Limit,
    Match,
    OnlyStale,
    Says,
    StaleChanges,
    Time,
    WithTags,
    Word,
    one_of,
)
from memory.constraints.inputs import PriorityWord
from memory.constraints.models import ConstraintStatus
from memory.constraints.rows import CONSTRAINTS, ORDER, ConstraintRow, ranks_of

COLUMNS = (
    *("id", "category", "text", "priority", "layer", "tags", "scopes", "reason", "status", "agent", "at"),
    "stale",
)


class ConstraintFilters(TypedDict, total=False):
    """What `constraint list` takes, before validation."""

    category: Annotated[str, About("Of this category.")] | None
    layer: InLayer | None
    priority: Annotated[PriorityWord, About("Of this priority.")] | None
    tags: WithTags | None
    match: Match
    scope: InScope | None
    by: ByAgent | None
    status: Annotated[Word, Says("active|inactive|any", in_description=False), About("Left out: active.")]
    limit: Limit
    cursor: Cursor | None
    full: Annotated[bool, Default(False), About("Texts whole, not cut to 200 characters.")]
    stale: OnlyStale | None


# What the list can be ordered by: what an index has. The rank puts the most urgent first.
ORDERS = {"priority": ["-rank", "created_at"]}


def list_constraints(
    project_id: int, *, ordering: Ordering = None, **filters: Unpack[ConstraintFilters]
) -> Listing:
    """Return one page of those that pass every filter: most urgent first, then by category, then newest."""
    limit, cursor, full = filters.get("limit", 20), filters.get("cursor"), filters.get("full", False)
    plan = in_order(_plan(project_id, filters), ordering, ORDERS)
    page = CONSTRAINTS.page(project_id, plan, limit=limit, cursor=cursor)
    rows = [
        [
            *(row.id, row.category, preview(row.text, full=full), row.priority_label, row.layer),
            *(list(row.tags), list(row.scopes), preview(row.reason, full=full), row.status_label),
            *(row.agent, format_time(row.created_at), row.stale or None),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, filters: ConstraintFilters) -> ListPlan:
    tags = read_tag_filters(filters.get("tags"), "tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(value, "by") if (value := filters.get("by")) else ""
    value = filters.get("category")
    category = clean_name(value, "category", at_most=WORD_LENGTH) if value else ""
    categories = [category] if category else []
    vocabulary = find_vocabulary(
        project_id, agent=by, tag_filters=tags, categories=categories, layers=bool(layer)
    )
    tagged = vocabulary.found_by(tags)
    scope_ids = scope_ids_of(project_id, scope) if scope else []
    conditions = _column_conditions(vocabulary, filters)
    ranks = ranks_of(_priority(filters), category.casefold() if category else None)
    if (
        (tags and not any(tagged))
        or (match_all and not all(tagged))
        or (scope and not scope_ids)
        or (by and vocabulary.agent_id is None)
        or (category and not vocabulary.categories)
    ):
        return ListPlan(order=ORDER, is_empty=True)
    stale = stale_filter(project_id, "constraint", filters.get("stale"))
    conditions += stale.conditions
    links = CONSTRAINTS.links
    linked = link_filters(links["tags"], ids_of(tagged), links["scopes"], scope_ids, match_all=match_all)
    few_ids = few_linked(linked) if tags and stale.ids is None else stale.ids
    if few_ids is not None:
        conditions += [links_of.to_any(ids) for links_of, ids in linked]
        return ListPlan(conditions, ORDER, ids=few_ids, ranges=ranks, is_empty=not few_ids)
    return ListPlan.along(linked, conditions, order=ORDER, ranges=ranks)


def _column_conditions(vocabulary: Vocabulary, filters: ConstraintFilters) -> list[Condition]:
    conditions: list[Condition] = []
    if layer := filters.get("layer"):
        conditions.append(("d.layer_id = %s", [vocabulary.layer(clean_name(layer, "layer"))[0]]))
    if filters.get("by"):
        conditions.append(("d.agent_id = %s", [vocabulary.agent_id]))
    if status := _status(filters.get("status", "active")):
        # A unary plus makes SQLite use the narrower index of another filter, as for decisions.
        has_other_filter = any(filters.get(name) for name in ("layer", "by", "tags", "scope"))
        plus = "+" if has_other_filter and connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.status = %s", [status.value]))
    return conditions


def _status(value: str | int) -> ConstraintStatus | None:
    if str(value).strip().lower() == "any":
        return None
    try:
        return clean_choice(value, ConstraintStatus, "status")
    except InvalidInput:
        raise unknown_word("status", value, [*ConstraintStatus.labels, "any"]) from None


def _priority(filters: ConstraintFilters) -> Priority | None:
    value = filters.get("priority")
    return None if value in (None, "") else clean_choice(value, Priority, "priority")


class ListedConstraint(TypedDict):
    id: int
    category: str
    text: str
    priority: Annotated[str, one_of(*Priority.labels)]
    layer: str | None
    tags: list[str]
    scopes: list[str]
    reason: str
    status: Annotated[str, one_of(*ConstraintStatus.labels)]
    agent: Author
    at: Time
    stale: NotRequired[StaleChanges | None]


class Constraint(ListedConstraint):
    paths: list[str]
    stale_since: NotRequired[Time]


def get_constraint(project_id: int, constraint_id: int) -> ConstraintRow:
    """Return a constraint. Raises NotFound, also for an id too large for the database."""
    found = CONSTRAINTS.read(project_id, [constraint_id]) if 0 < constraint_id < 2**63 else {}
    if constraint_id not in found:
        raise NotFound(
            f"There is no constraint {shown(constraint_id)}.",
            hint=f"{operation('constraint list')} shows those there are, inactive ones with status any.",
        )
    return found[constraint_id]


def constraint_item(row: ConstraintRow) -> dict[str, Any]:
    """Return all fields of a constraint, as tools and REST show them."""
    item = Constraint(
        id=row.id,
        category=row.category,
        text=row.text,
        priority=row.priority_label,
        layer=row.layer,
        tags=list(row.tags),
        scopes=list(row.scopes),
        paths=list(row.paths),
        reason=row.reason,
        status=row.status_label,
        agent=row.agent,
        at=format_time(row.created_at),
    )
    return {**item, **shown_staleness(row)}


def open_constraints(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Return items by their ref names: all fields if `full`, else a digest with a truncated text."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    return {
        ids[row_id]: constraint_item(row) if full else _digest(row)
        for row_id, row in CONSTRAINTS.read(project_id, list(ids)).items()
    }


def _digest(row: ConstraintRow) -> dict[str, Any]:
    return {
        "category": row.category,
        "text": preview(row.text),
        "priority": row.priority_label,
        "status": row.status_label,
        **shown_staleness(row),
    }
