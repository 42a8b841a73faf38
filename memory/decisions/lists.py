"""Lists of decisions, with every filter, sort and cursor."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, unknown_word
from ctxhub.core.kit.inputs import (
    clean_choice,
    clean_match,
    clean_moment,
    clean_name,
    clean_one_of,
    clean_query,
)
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.pages import (
    FEW,
    Condition,
    Filter,
    ListPlan,
    Page,
    any_of,
    few_linked,
    in_all,
    link_filters,
)
from ctxhub.core.paths.stale_rows import stale_filter
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.matches import read_object_ids
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary, ids_of, scope_ids_of
from ctxhub.core.vocabulary.tag_filters import read_tag_filters
from memory.decisions.models.decision import DecisionStatus
from memory.decisions.rows.decisions import DECISIONS, LISTED, DecisionRow

SORTS = {"updated": "updated_at", "key": "key", "version": "version_order"}
COLUMNS = ("key", "value", "version", "status", "layer", "tags", "scopes", "agent", "updated", "stale")


class DecisionFilters(TypedDict, total=False):
    """The filters of `decision list`, before validation."""

    key: str
    status: str
    layer: str | None
    tags: Sequence[str] | None
    match: str
    exclude_tags: Sequence[str] | None
    scope: str | None
    by: str | None
    text: str | None
    since: str | None
    until: str | None
    stale: bool | None


def find_decisions(
    project_id: int,
    *,
    sort: str = "updated",
    order: str = "desc",
    limit: int = 20,
    cursor: str | None = None,
    fields: Sequence[str] = (),
    **filters: Unpack[DecisionFilters],
) -> Page[DecisionRow]:
    """Return one page of the decisions that pass every filter, with the total count. Reads only `fields`."""
    sort = clean_one_of(sort, list(SORTS), "sort")
    sign = "-" if clean_one_of(order, ["desc", "asc"], "order") == "desc" else ""
    plan = _plan(project_id, sort, [f"{sign}{SORTS[sort]}", f"{sign}id"], filters)
    return DECISIONS.page(project_id, plan, limit=limit, cursor=cursor, names=fields)


def list_decisions(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """Return the rows of `decision list`; their columns are `COLUMNS`."""
    page = find_decisions(project_id, fields=LISTED, **query)
    rows = [
        [
            *(row.key, preview(row.typed_value, full=full), row.version, row.status_label, row.layer),
            *(list(row.tags), list(row.scopes), row.agent, format_time(row.updated_at), row.stale or None),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, sort: str, order: Sequence[str], filters: DecisionFilters) -> ListPlan:
    tags = read_tag_filters(filters.get("tags"), "tags")
    excluded = read_tag_filters(filters.get("exclude_tags"), "exclude_tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(value, "by") if (value := filters.get("by")) else ""
    text = clean_query(value, "text") if (value := filters.get("text")) else ""
    vocabulary = find_vocabulary(project_id, agent=by, tag_filters=[*tags, *excluded], layers=bool(layer))
    tagged = vocabulary.found_by(tags)
    scope_ids = scope_ids_of(project_id, scope) if scope else []
    conditions = _column_conditions(project_id, vocabulary, filters)
    empty = ListPlan(order=order, sort=sort, is_empty=True)
    if (
        (tags and not any(tagged))
        or (match_all and not all(tagged))
        or (scope and not scope_ids)
        or (by and vocabulary.agent_id is None)
    ):
        return empty
    matching = (
        matching_ids(project_id, text, _scope(vocabulary, tagged, match_all, filters)) if text else None
    )
    stale = stale_filter(project_id, "decision", filters.get("stale"))
    conditions += stale.conditions
    links = DECISIONS.links
    without = any_of(links["tags"], ids_of(vocabulary.found_by(excluded)))
    conditions += [links_of.to_any(ids, negated=True) for links_of, ids in without]
    linked = link_filters(links["tags"], ids_of(tagged), links["scopes"], scope_ids, match_all=match_all)
    ids = in_all(matching, stale.ids)
    if ids is None and tags:
        ids = few_linked(linked)
    return _read_along(linked, conditions, ids, order=order, sort=sort)


def _read_along(
    linked: Sequence[Filter],
    conditions: list[Condition],
    ids: Sequence[int] | None,
    *,
    order: Sequence[str],
    sort: str,
) -> ListPlan:
    """Through the ids, if they are known and few, else through the links."""
    if ids == []:
        return ListPlan(order=order, sort=sort, is_empty=True)
    few_ids = ids if ids and len(ids) <= FEW else None
    if ids and few_ids is None:
        conditions.append(sql.among("d.id", ids))
    # Link tables copy the update time alone, so they serve no other sort.
    if few_ids is None and sort == "updated":
        return ListPlan.along(linked, conditions, order=order, sort=sort)
    conditions += [links_of.to_any(of_words) for links_of, of_words in linked]
    return ListPlan(conditions, order, ids=few_ids, sort=sort)


def matching_ids(project_id: int, text: str, scope: Scope) -> list[int]:
    """Return the ids of decisions that contain all words of a query: "a phrase", -not, prefix*."""
    narrowing = Narrowing([[f"P{project_id}"], [kind_word("decision")], *scope])
    return read_object_ids(narrowing, parse_filter(project_id, text))


def _scope(
    vocabulary: Vocabulary, tagged: Sequence[Iterable[str]], match_all: bool, filters: DecisionFilters
) -> Scope:
    """Return the other filters as index terms, so that the search index returns fewer ids."""
    named = [[tag_word(tag) for tag in tags] for tags in tagged]
    scope = named if match_all or len(named) < 2 else [[word for words in named for word in words]]
    if layer := filters.get("layer"):
        scope.append([f"L{vocabulary.layer(clean_name(layer, 'layer'))[0]}"])
    if filters.get("by"):
        scope.append([f"A{vocabulary.agent_id}"])
    return scope


def _status(filters: DecisionFilters) -> DecisionStatus | None:
    value = filters.get("status", "any" if filters.get("key") else "active")
    if str(value).strip().lower() == "any":
        return None
    try:
        return clean_choice(value, DecisionStatus, "status")
    except InvalidInput:
        raise unknown_word("status", value, [*DecisionStatus.labels, "any"]) from None


def _column_conditions(project_id: int, vocabulary: Vocabulary, filters: DecisionFilters) -> list[Condition]:
    conditions: list[Condition] = []
    if key := filters.get("key"):
        conditions.append(("d.key = %s", [clean_name(key, "key")]))
    if layer := filters.get("layer"):
        conditions.append(("d.layer_id = %s", [vocabulary.layer(clean_name(layer, "layer"))[0]]))
    if filters.get("by"):
        conditions.append(("d.agent_id = %s", [vocabulary.agent_id]))
    if status := _status(filters):
        # The unary plus stops SQLite from using the status index if another filter has a narrower one. Not on
        # PostgreSQL: it plans by statistics, which the plus would hide, and would sort the whole table.
        has_other_filter = any(filters.get(name) for name in ("layer", "by", "tags", "scope", "text"))
        plus = "+" if has_other_filter and connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.status = %s", [status.value]))
    for name, comparison in (("since", ">="), ("until", "<")):
        value = clean_moment(filters.get(name), name)  # type: ignore[arg-type]
        if (moment := moment_of(project_id, value)) is not None:
            conditions.append((f"d.updated_at {comparison} %s", [sql.stored_time(moment)]))
    return conditions
