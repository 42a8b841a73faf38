"""Reads decisions: lists with every filter, by key with their reasons and versions, and by ref."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired, Unpack

from django.db import connection
from typing_extensions import TypedDict

from ctxhub.core.events.log import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, unknown_word
from ctxhub.core.kit.inputs import (
    clean_choice,
    clean_limit,
    clean_match,
    clean_moment,
    clean_name,
    clean_one_of,
    clean_query,
    clean_words,
)
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import NEWEST_FIRST, Ordering, Way, way_of
from ctxhub.core.kit.pages import (
    FEW,
    Condition,
    Filter,
    ListPlan,
    Page,
    any_of,
    few_linked,
    in_all,
    in_order,
    link_filters,
)
from ctxhub.core.paths.rows import shown_staleness, stale_filter
from ctxhub.core.search.alternatives import ids_with_words
from ctxhub.core.search.documents import tag_word
from ctxhub.core.search.engines import Scope
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, ids_of, scope_ids_of
from ctxhub.core.vocabulary.tag_filters import read_tag_filters
from ctxhub.toolbox.argument_types import (
    About,
    Author,
    StaleChanges,
    Time,
    one_of,
)
from memory.decisions.inputs import ALTERNATIVES, TRADEOFFS, DecisionFilters
from memory.decisions.models import Decision, DecisionRevision, DecisionStatus, typed_value
from memory.decisions.rows import DECISIONS, LISTED, DecisionRow, read_decisions

INCLUDES = ("rationale", "history", "links")
VERSION_COLUMNS = ("version", "value", "status", "agent", "at")
VERSIONS_SHOWN = 1_000

Value = str | int | float
Status = Annotated[str, one_of(*DecisionStatus.labels)]
Alternatives = Annotated[list[Any], About(schema=ALTERNATIVES)]
Tradeoffs = Annotated[dict[str, Any], About(schema=TRADEOFFS)]


class DecisionItem(TypedDict):
    key: str
    value: Value
    version: str
    status: Status
    layer: str | None
    tags: list[str]
    scopes: list[str]
    paths: list[str]
    agent: Author
    updated: Time
    metadata: NotRequired[dict[str, Any]]
    reason: NotRequired[Annotated[str, About("Why it was deprecated.")]]
    superseded_by: NotRequired[str | None]
    stale: NotRequired[StaleChanges | None]
    stale_since: NotRequired[Time]


class Reasons(TypedDict):
    rationale: str
    alternatives: Alternatives
    tradeoffs: Tradeoffs


class Version(TypedDict):
    version: str
    value: Value
    status: Status
    agent: Author
    at: Time


def find_decision(project_id: int, key: str) -> DecisionRow | None:
    return read_decisions(project_id, [key]).get(key)


def decision_item(row: DecisionRow) -> dict[str, Any]:
    """Return a decision as tools and REST show it, without the parts that `include` adds."""
    item = DecisionItem(
        key=row.key,
        value=row.typed_value,
        version=row.version,
        status=row.status_label,
        layer=row.layer,
        tags=list(row.tags),
        scopes=list(row.scopes),
        paths=list(row.paths),
        agent=row.agent,
        updated=format_time(row.updated_at),
    )
    if row.metadata:
        item["metadata"] = dict(row.metadata)
    if row.reason:
        item["reason"] = row.reason
    if row.superseded_by:
        item["superseded_by"] = row.superseded_by
    return {**item, **shown_staleness(row)}


def included(project_id: int, row: DecisionRow, include: Sequence[str]) -> dict[str, Any]:
    """Return the parts that `include` names: rationale (with alternatives and tradeoffs), history, links."""
    wanted = [clean_one_of(name, INCLUDES, "include") for name in clean_words(include, "include")]
    parts: dict[str, Any] = {}
    if "rationale" in wanted:
        parts |= _reasons(row)
    if "history" in wanted:
        parts["history"] = _versions_of(project_id, row, full=True)
    if "links" in wanted:
        older = (
            Decision.objects.in_project(project_id)
            .filter(superseded_by_id=row.id)
            .order_by("key")
            .values_list("key", flat=True)
        )
        parts |= {"superseded_by": row.superseded_by, "supersedes": list(older[:50])}
    return parts


def list_versions(
    project_id: int,
    key: str,
    *,
    full: bool = False,
    limit: int | None = None,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """List every version of a decision, newest first, with the current one; empty for an unknown key.

    `limit` turns on paging.
    """
    row, way = find_decision(project_id, clean_name(key, "key")), way_of(ordering, "-at")
    if row is None:
        return Listing(columns=VERSION_COLUMNS, rows=[])
    page_size = None if limit is None else clean_limit(limit)
    return _versions_of(project_id, row, full=full, limit=page_size, cursor=cursor, way=way)


def find_version(project_id: int, row: DecisionRow, version: str) -> dict[str, Any] | None:
    """Return a version with its full value, or None; the newest if several have this name."""
    version = clean_name(version, "version")
    if version == row.version:
        found = (row.value, row.value_type, row.status, row.agent, row.updated_at)
    else:
        revisions = DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id)
        older = revisions.filter(version=version).order_by("-pk")
        if not (first := older.values_list("value", "value_type", "status", "agent__name", "at").first()):
            return None
        found = first
    return {"key": row.key, **_version(version, *found)}


def _reasons(row: DecisionRow) -> Reasons:
    return Reasons(
        rationale=row.rationale, alternatives=list(row.alternatives), tradeoffs=dict(row.tradeoffs)
    )


def _version(
    version: str, value: str, kind: int, status: int, agent: str | None, at: datetime, *, full: bool = True
) -> Version:
    return Version(
        version=version,
        value=preview(typed_value(value, kind), full=full),
        status=_status_label(status),
        agent=agent or "system",
        at=format_time(at),
    )


def _versions_of(
    project_id: int,
    row: DecisionRow,
    *,
    full: bool,
    limit: int | None = None,
    cursor: str | None = None,
    way: Way = NEWEST_FIRST,
) -> Listing:
    revisions = DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id)
    revisions = revisions.order_by("-pk" if way.is_down else "pk")
    if cursor:
        [position] = way.read(cursor, int)
        revisions = revisions.filter(**{"pk__lt" if way.is_down else "pk__gt": position})
    current = (0, row.version, row.value, row.value_type, row.status, row.agent, row.updated_at)
    page_size = limit or VERSIONS_SHOWN
    older = revisions.values_list("pk", "version", "value", "value_type", "status", "agent__name", "at")
    found = list(older[: page_size + 1])
    versions = [*([] if cursor else [current]), *found] if way.is_down else found
    if not way.is_down and len(found) <= page_size:
        versions = [*found, current]

    def cursor_after(count: int) -> str:
        return way.cursor(versions[count][0] + 1 if way.is_down else versions[count - 1][0])

    return Listing(
        columns=VERSION_COLUMNS,
        rows=[
            list(_version(version, value, kind, status, agent, at, full=full).values())
            for _, version, value, kind, status, agent, at in versions[:page_size]
        ],
        next=cursor_after(page_size) if limit and len(versions) > limit else None,
        cursor_after=cursor_after if limit else None,
    )


def _status_label(status: int) -> str:
    return str(DecisionStatus(status).label)


def ids_of_keys(project_id: int, keys: Sequence[str]) -> dict[str, int]:
    among, values = sql.among("key", keys)
    return dict(
        sql.rows(
            f"SELECT key, id FROM memory_decision WHERE project_id = %s AND {among}", [project_id, *values]
        )
    )


def open_decisions(project_id: int, keys: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Return items by key: with reasons if `full`, else a digest with a truncated value."""
    items = {}
    for key, row in read_decisions(project_id, keys).items():
        item = decision_item(row)
        if full:
            item |= {name: value for name, value in _reasons(row).items() if value}
        else:
            shown = {"value": preview(item["value"]), "version": item["version"], "status": item["status"]}
            item = shown | shown_staleness(row)
        items[key] = item
    return items


SORTS = {"updated": "updated_at", "key": "key", "version": "version_order"}
# The same for an ordering.
ORDERS = {field: [column] for field, column in SORTS.items()}
COLUMNS = ("key", "value", "version", "status", "layer", "tags", "scopes", "agent", "updated", "stale")


class KeyFilters(DecisionFilters, total=False):
    """`key`: of the decision with this key, whatever its status."""

    key: str


def find_decisions(
    project_id: int,
    *,
    fields: Sequence[str] = (),
    ordering: Ordering = None,
    **filters: Unpack[KeyFilters],
) -> Page[DecisionRow]:
    """Return one page of the decisions that pass every filter, with the total count. Reads only `fields`."""
    if ordering and ("sort" in filters or "order" in filters):
        raise InvalidInput("ordering and sort exclude one another.")
    sort = clean_one_of(filters.get("sort", "updated"), list(SORTS), "sort")
    sign = "-" if clean_one_of(filters.get("order", "desc"), ["desc", "asc"], "order") == "desc" else ""
    plan = _plan(project_id, sort, [f"{sign}{SORTS[sort]}", f"{sign}id"], filters)
    plan = in_order(plan, ordering, ORDERS)
    limit, cursor = filters.get("limit", 20), filters.get("cursor")
    return DECISIONS.page(project_id, plan, limit=limit, cursor=cursor, names=fields)


def list_decisions(project_id: int, **filters: Unpack[DecisionFilters]) -> Listing:
    """Return the rows of `decision list`; their columns are `COLUMNS`."""
    page, full = find_decisions(project_id, fields=LISTED, **filters), filters.get("full", False)
    rows = [
        [
            *(row.key, preview(row.typed_value, full=full), row.version, row.status_label, row.layer),
            *(list(row.tags), list(row.scopes), row.agent, format_time(row.updated_at), row.stale or None),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, sort: str, order: Sequence[str], filters: KeyFilters) -> ListPlan:
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
        ids_with_words(project_id, "decision", text, _scope(vocabulary, tagged, match_all, filters))
        if text
        else None
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


def _scope(
    vocabulary: Vocabulary, tagged: Sequence[Iterable[str]], match_all: bool, filters: KeyFilters
) -> Scope:
    """Return the other filters as index terms, so that the search index returns fewer ids."""
    named = [[tag_word(tag) for tag in tags] for tags in tagged]
    scope = named if match_all or len(named) < 2 else [[word for words in named for word in words]]
    if layer := filters.get("layer"):
        scope.append([f"L{vocabulary.layer(clean_name(layer, 'layer'))[0]}"])
    if filters.get("by"):
        scope.append([f"A{vocabulary.agent_id}"])
    return scope


def _status(filters: KeyFilters) -> DecisionStatus | None:
    value = filters.get("status", "any" if filters.get("key") else "active")
    if str(value).strip().lower() == "any":
        return None
    try:
        return clean_choice(value, DecisionStatus, "status")
    except InvalidInput:
        raise unknown_word("status", value, [*DecisionStatus.labels, "any"]) from None


def _column_conditions(project_id: int, vocabulary: Vocabulary, filters: KeyFilters) -> list[Condition]:
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
