"""Lists of decisions, with every filter, sort and cursor."""

from collections.abc import Sequence
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
    clean_words,
)
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.pages import Condition, ListPlan, Page, link_filters
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.engines import Narrowing, Scope, read_object_ids
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary, scope_ids_of
from memory.decisions.models.decision import DecisionStatus
from memory.decisions.rows.decisions import DECISIONS, LISTED, DecisionRow

SORTS = {"updated": "updated_at", "key": "key", "version": "version_order"}
COLUMNS = ("key", "value", "version", "status", "layer", "tags", "scopes", "agent", "updated")
FEW = 2_000  # More answers to a text than this are met soon enough on any walk.


class DecisionFilters(TypedDict, total=False):
    """The filters of `decision list`, as a caller says them."""

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
    """One page of the decisions that pass every filter, and how many there are; of each row these fields."""
    sort = clean_one_of(sort, list(SORTS), "sort")
    sign = "-" if clean_one_of(order, ["desc", "asc"], "order") == "desc" else ""
    plan = _plan(project_id, sort, [f"{sign}{SORTS[sort]}", f"{sign}id"], filters)
    return DECISIONS.page(project_id, plan, limit=limit, cursor=cursor, names=fields)


def list_decisions(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The contract's list: rows key, value, version, status, layer, tags, scopes, agent, updated."""
    page = find_decisions(project_id, fields=LISTED, **query)
    rows = [
        [
            *(row.key, preview(row.typed_value, full=full), row.version, row.status_label, row.layer),
            *(list(row.tags), list(row.scopes), row.agent, format_time(row.updated_at)),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, sort: str, order: Sequence[str], filters: DecisionFilters) -> ListPlan:
    tags = clean_words(filters.get("tags"), "tags")
    excluded = clean_words(filters.get("exclude_tags"), "exclude_tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    text = clean_query(said, "text") if (said := filters.get("text")) else ""
    words = find_vocabulary(project_id, agent=by, tags=[*tags, *excluded], layers=bool(layer))
    tag_ids = [words.tags[tag.casefold()] for tag in tags if tag.casefold() in words.tags]
    scope_ids = scope_ids_of(project_id, scope) if scope else []
    conditions = _plain(project_id, words, filters)
    empty = ListPlan(order=order, sort=sort, is_empty=True)
    if (
        (tags and not tag_ids)
        or (match_all and len(tag_ids) < len(tags))
        or (scope and not scope_ids)
        or (by and words.agent_id is None)
    ):
        return empty
    answering = answering_ids(project_id, text, _scope(words, tags, match_all, filters)) if text else None
    if answering == []:
        return empty
    links = DECISIONS.links
    if excluded_ids := [words.tags[tag.casefold()] for tag in excluded if tag.casefold() in words.tags]:
        conditions.append(links["tags"].to_any(excluded_ids, negated=True))
    linked = link_filters(links["tags"], tag_ids, links["scopes"], scope_ids, match_all=match_all)
    # Few answers to a text are looked at one by one; links repeat the time of a decision alone.
    few = answering if answering and len(answering) <= FEW else None
    if answering and few is None:
        conditions.append(sql.among("d.id", answering))
    if few is None and sort == "updated":
        return ListPlan.along(linked, conditions, order=order, sort=sort)
    conditions += [of.to_any(ids) for of, ids in linked]
    return ListPlan(conditions, order, ids=few, sort=sort)


def answering_ids(project_id: int, text: str, scope: Scope) -> list[int]:
    """The decisions in which all words of a text stand: people's syntax, "a phrase", -not and prefix*."""
    narrowing = Narrowing([[f"P{project_id}"], [kind_word("decision")], *scope])
    return read_object_ids(narrowing, parse_filter(project_id, text))


def _scope(words: Vocabulary, tags: Sequence[str], match_all: bool, filters: DecisionFilters) -> Scope:
    """What the index knows of the other filters, so that it gives no more than it has to."""
    named = [tag_word(tag) for tag in tags]
    scope = [[name] for name in named] if match_all else [named] if named else []
    if layer := filters.get("layer"):
        scope.append([f"L{words.layer(clean_name(layer, 'layer'))[0]}"])
    if filters.get("by"):
        scope.append([f"A{words.agent_id}"])
    return scope


def clean_status(filters: DecisionFilters) -> DecisionStatus | None:
    said = filters.get("status", "any" if filters.get("key") else "active")
    if str(said).strip().lower() == "any":
        return None
    try:
        return clean_choice(said, DecisionStatus, "status")
    except InvalidInput:
        raise unknown_word("status", said, [*DecisionStatus.labels, "any"]) from None


def _plain(project_id: int, words: Vocabulary, filters: DecisionFilters) -> list[Condition]:
    conditions: list[Condition] = []
    if key := filters.get("key"):
        conditions.append(("d.key = %s", [clean_name(key, "key")]))
    if layer := filters.get("layer"):
        conditions.append(("d.layer_id = %s", [words.layer(clean_name(layer, "layer"))[0]]))
    if filters.get("by"):
        conditions.append(("d.agent_id = %s", [words.agent_id]))
    if status := clean_status(filters):
        # The plus keeps SQLite off the status' index where another filter has a narrower one. PostgreSQL
        # has statistics, and the plus would hide the column from them: it then sorts all there is.
        is_beside = any(filters.get(name) for name in ("layer", "by", "tags", "scope", "text"))
        plus = "+" if is_beside and connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.status = %s", [status.value]))
    for name, comparison in (("since", ">="), ("until", "<")):
        said = clean_moment(filters.get(name), name)  # type: ignore[arg-type]
        if (moment := moment_of(project_id, said)) is not None:
            conditions.append((f"d.updated_at {comparison} %s", [sql.stored_time(moment)]))
    return conditions
