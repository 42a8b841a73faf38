"""Lists of constraints, with every filter and cursor."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, unknown_word
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_choice, clean_match, clean_name, clean_words
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.pages import Condition, ListPlan, Page, link_filters
from ctxhub.core.kit.priority import Priority
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary, scope_ids_of
from memory.constraints.models import ConstraintStatus
from memory.constraints.rows import CONSTRAINTS, ORDER, ConstraintRow, ranks_of

COLUMNS = (
    *("id", "category", "text", "priority", "layer", "tags", "scopes", "reason", "status", "agent", "at"),
)


class ConstraintFilters(TypedDict, total=False):
    """The filters of `constraint list`, as a caller says them."""

    category: str | None
    layer: str | None
    priority: str | int | None
    tags: Sequence[str] | None
    match: str
    scope: str | None
    by: str | None
    status: str | int


def find_constraints(
    project_id: int, *, limit: int = 20, cursor: str | None = None, **filters: Unpack[ConstraintFilters]
) -> Page[ConstraintRow]:
    """One page of the constraints that pass every filter, and how many there are."""
    return CONSTRAINTS.page(project_id, _plan(project_id, filters), limit=limit, cursor=cursor)


def list_constraints(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The contract's list, the most urgent first, then by category, then the newest."""
    page = find_constraints(project_id, **query)
    rows = [
        [
            *(row.id, row.category, preview(row.text, full=full), row.priority_label, row.layer),
            *(list(row.tags), list(row.scopes), preview(row.reason, full=full), row.status_label),
            *(row.agent, format_time(row.created_at)),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, filters: ConstraintFilters) -> ListPlan:
    tags = clean_words(filters.get("tags"), "tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    category = clean_name(said, "category", at_most=WORD_LENGTH) if (said := filters.get("category")) else ""
    categories = [category] if category else []
    words = find_vocabulary(project_id, agent=by, tags=tags, categories=categories, layers=bool(layer))
    tag_ids = [words.tags[tag.casefold()] for tag in tags if tag.casefold() in words.tags]
    scope_ids = scope_ids_of(project_id, scope) if scope else []
    conditions = _plain(words, filters)
    ranks = ranks_of(_priority(filters), category.casefold() if category else None)
    if (
        (tags and not tag_ids)
        or (match_all and len(tag_ids) < len(tags))
        or (scope and not scope_ids)
        or (by and words.agent_id is None)
        or (category and not words.categories)
    ):
        return ListPlan(order=ORDER, is_empty=True)
    links = CONSTRAINTS.links
    linked = link_filters(links["tags"], tag_ids, links["scopes"], scope_ids, match_all=match_all)
    return ListPlan.along(linked, conditions, order=ORDER, ranges=ranks)


def _plain(words: Vocabulary, filters: ConstraintFilters) -> list[Condition]:
    conditions: list[Condition] = []
    if layer := filters.get("layer"):
        conditions.append(("d.layer_id = %s", [words.layer(clean_name(layer, "layer"))[0]]))
    if filters.get("by"):
        conditions.append(("d.agent_id = %s", [words.agent_id]))
    if status := _status(filters.get("status", "active")):
        # See decision_lists: the plus keeps SQLite on the narrower index of another filter.
        is_beside = any(filters.get(name) for name in ("layer", "by", "tags", "scope"))
        plus = "+" if is_beside and connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.status = %s", [status.value]))
    return conditions


def _status(said: str | int) -> ConstraintStatus | None:
    if str(said).strip().lower() == "any":
        return None
    try:
        return clean_choice(said, ConstraintStatus, "status")
    except InvalidInput:
        raise unknown_word("status", said, [*ConstraintStatus.labels, "any"]) from None


def _priority(filters: ConstraintFilters) -> Priority | None:
    said = filters.get("priority")
    return None if said in (None, "") else clean_choice(said, Priority, "priority")
