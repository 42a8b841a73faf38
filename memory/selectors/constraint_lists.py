"""Lists of constraints, with every filter and cursor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core import sql
from ctxhub.core.clock import spoken
from ctxhub.core.errors import InvalidInput, unknown_word
from ctxhub.core.inputs import WORD_LENGTH, clean_choice, clean_limit, clean_match, clean_name, clean_words
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.core.models.priority import Priority
from ctxhub.core.selectors.words import Words, find_words
from memory.models import ConstraintStatus
from memory.selectors.decision_lists import ARMS, demands_of, scope_ids_of
from memory.sql.constraint_lists import SCOPE_LINKS, TAG_LINKS, Place, Ranks, Walk, count_constraints
from memory.sql.constraint_lists import list_constraints as read_page
from memory.sql.constraint_rows import ConstraintRow
from memory.sql.decision_lists import Condition, Links

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


@dataclass(frozen=True, slots=True)
class ConstraintPage:
    rows: Sequence[ConstraintRow]
    has_more: bool
    total: Mapping[str, Any]

    def cursor_after(self, count: int) -> str:
        last = self.rows[count - 1]
        return make_cursor(last.rank, last.created_at.isoformat(), last.id)

    @property
    def next(self) -> str | None:
        return self.cursor_after(len(self.rows)) if self.has_more else None


def find_constraints(
    project_id: int, *, limit: int = 20, cursor: str | None = None, **filters: Unpack[ConstraintFilters]
) -> ConstraintPage:
    """One page of the constraints that pass every filter, and how many there are."""
    limit = clean_limit(limit)
    after = _place(cursor) if cursor else None
    walk = _walk(project_id, filters)
    if walk is None:
        return ConstraintPage([], has_more=False, total={"total": 0})
    rows = read_page(walk, limit + 1, after)
    more = len(rows) > limit
    # A first page that holds everything has counted it.
    counted = len(rows) if after is None and not more else count_constraints(walk, COUNTED_TO + 1)
    return ConstraintPage(rows[:limit], has_more=more, total=total_of(counted))


def list_constraints(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The contract's list, the most urgent first, then by category, then the newest."""
    page = find_constraints(project_id, **query)
    rows = [
        [
            *(row.id, row.category, preview(row.text, full=full), row.spoken_priority, row.layer),
            *(list(row.tags), list(row.scopes), preview(row.reason, full=full), row.spoken_status),
            *(row.agent, spoken(row.created_at)),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _place(cursor: str) -> Place:
    rank, created_at, row_id = read_cursor(cursor, str, datetime, int)
    return rank, created_at, row_id


def _walk(project_id: int, filters: ConstraintFilters) -> Walk | None:
    """The filters as conditions; None where they name what does not exist, so that nothing can match."""
    tags = clean_words(filters.get("tags"), "tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    category = clean_name(said, "category", at_most=WORD_LENGTH) if (said := filters.get("category")) else ""
    categories = [category] if category else []
    words = find_words(project_id, agent=by, tags=tags, categories=categories, layers=bool(layer))
    tag_ids = [words.tags[tag.casefold()] for tag in tags if tag.casefold() in words.tags]
    scope_ids = scope_ids_of(project_id, scope) if scope else []
    conditions: list[Condition] = [("d.project_id = %s", [project_id]), *_plain(words, filters)]
    ranks = Ranks(_priority(filters), category.casefold() if category else None)
    if (
        (tags and not tag_ids)
        or (match_all and len(tag_ids) < len(tags))
        or (scope and not scope_ids)
        or (by and words.agent_id is None)
        or (category and not words.categories)
    ):
        return None
    demands = demands_of(tag_ids, match_all, scope_ids, TAG_LINKS, SCOPE_LINKS)
    driver = demands.pop(0) if demands and len(demands[0][1]) <= ARMS else (None, ())
    conditions += [_linked(links, ids) for links, ids in demands]
    return Walk(conditions, ranks, *driver)


def _plain(words: Words, filters: ConstraintFilters) -> list[Condition]:
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


def _linked(links: Links, ids: Sequence[int]) -> Condition:
    among, values = sql.among(f"y.{links.column}", ids)
    return f"EXISTS (SELECT 1 FROM {links.table} y WHERE y.constraint_id = d.id AND {among})", values  # noqa: S608
