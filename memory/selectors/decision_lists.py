"""Lists of decisions, with every filter, sort and cursor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core import sql
from ctxhub.core.clock import spoken
from ctxhub.core.errors import InvalidInput, unknown_word
from ctxhub.core.inputs import (
    clean_choice,
    clean_limit,
    clean_match,
    clean_moment,
    clean_name,
    clean_one_of,
    clean_query,
    clean_words,
)
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.engines import Narrowing, Scope, read_object_ids
from ctxhub.core.selectors.events import moment_of
from ctxhub.core.selectors.words import Words, find_words, scope_ids_of
from memory.models import DecisionStatus
from memory.models.decision import version_order
from memory.sql.decision_lists import (
    SCOPE_LINKS,
    TAG_LINKS,
    Condition,
    Links,
    Walk,
    count_decisions,
    rarest_first,
)
from memory.sql.decision_lists import list_decisions as read_page
from memory.sql.decision_rows import LISTED, WHOLE, DecisionRow

SORTS = {"updated": "updated_at", "key": "key", "version": "version_order"}
COLUMNS = ("key", "value", "version", "status", "layer", "tags", "scopes", "agent", "updated")
ARMS = 10  # More scopes than this are not walked one by one.
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


@dataclass(frozen=True, slots=True)
class DecisionPage:
    rows: Sequence[DecisionRow]
    sort: str
    has_more: bool
    total: Mapping[str, Any]

    def cursor_after(self, count: int) -> str:
        last = self.rows[count - 1]
        place = {
            "updated": last.updated_at.isoformat(),
            "key": last.key,
            "version": version_order(last.version),
        }
        return make_cursor(self.sort, place[self.sort], last.id)

    @property
    def next(self) -> str | None:
        return self.cursor_after(len(self.rows)) if self.has_more else None


def find_decisions(
    project_id: int,
    *,
    sort: str = "updated",
    order: str = "desc",
    limit: int = 20,
    cursor: str | None = None,
    fields: Sequence[str] = WHOLE,
    **filters: Unpack[DecisionFilters],
) -> DecisionPage:
    """One page of the decisions that pass every filter, and how many there are; of each row these fields."""
    sort = clean_one_of(sort, list(SORTS), "sort")
    descending = clean_one_of(order, ["desc", "asc"], "order") == "desc"
    limit = clean_limit(limit)
    after = _place(cursor, sort) if cursor else None
    walk = _walk(project_id, SORTS[sort], descending, filters)
    if walk is None:
        return DecisionPage([], sort, has_more=False, total={"total": 0})
    rows = read_page(walk, fields, limit + 1, after)
    more = len(rows) > limit
    # A first page that holds everything has counted it.
    counted = len(rows) if after is None and not more else count_decisions(walk, COUNTED_TO + 1)
    return DecisionPage(rows[:limit], sort, has_more=more, total=total_of(counted))


def list_decisions(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The contract's list: rows key, value, version, status, layer, tags, scopes, agent, updated."""
    page = find_decisions(project_id, fields=LISTED, **query)
    rows = [
        [
            *(row.key, preview(row.spoken_value, full=full), row.version, row.spoken_status, row.layer),
            *(list(row.tags), list(row.scopes), row.agent, spoken(row.updated_at)),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _place(cursor: str, sort: str) -> tuple[Any, int]:
    told, place, row_id = read_cursor(cursor, str, datetime if sort == "updated" else str, int)
    if told != sort:
        raise InvalidInput(
            "cursor belongs to a list with another sort.", hint="Repeat the call that gave it."
        )
    return sql.stored_time(place) if sort == "updated" else place, row_id


def _walk(project_id: int, sort: str, descending: bool, filters: DecisionFilters) -> Walk | None:
    """The filters as conditions; None where they name what does not exist, so that nothing can match."""
    tags = clean_words(filters.get("tags"), "tags")
    excluded = clean_words(filters.get("exclude_tags"), "exclude_tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    text = clean_query(said, "text") if (said := filters.get("text")) else ""
    words = find_words(project_id, agent=by, tags=[*tags, *excluded], layers=bool(layer))
    tag_ids = [words.tags[tag.casefold()] for tag in tags if tag.casefold() in words.tags]
    scope_ids = scope_ids_of(project_id, scope) if scope else []
    conditions: list[Condition] = [("d.project_id = %s", [project_id]), *_plain(project_id, words, filters)]
    if (
        (tags and not tag_ids)
        or (match_all and len(tag_ids) < len(tags))
        or (scope and not scope_ids)
        or (by and words.agent_id is None)
    ):
        return None
    answering = answering_ids(project_id, text, _scope(words, tags, match_all, filters)) if text else None
    if answering == []:
        return None
    if excluded_ids := [words.tags[tag.casefold()] for tag in excluded if tag.casefold() in words.tags]:
        conditions.append(_linked(TAG_LINKS, excluded_ids, negated=True))
    demands = demands_of(tag_ids, match_all, scope_ids)
    if answering and len(answering) <= FEW:
        conditions += [_linked(links, ids) for links, ids in demands]
        return Walk(conditions, sort, descending, ids=answering)
    if answering:
        conditions.append(sql.among("d.id", answering))
    driver = demands.pop(0) if demands and sort == "updated_at" and len(demands[0][1]) <= ARMS else (None, ())
    conditions += [_linked(links, ids) for links, ids in demands]
    return Walk(conditions, sort, descending, *driver)


def answering_ids(project_id: int, text: str, scope: Scope) -> list[int]:
    """The decisions in which all words of a text stand: people's syntax, "a phrase", -not and prefix*."""
    narrowing = Narrowing([[f"P{project_id}"], [kind_word("decision")], *scope])
    return read_object_ids(narrowing, parse_filter(project_id, text))


def _scope(words: Words, tags: Sequence[str], match_all: bool, filters: DecisionFilters) -> Scope:
    """What the index knows of the other filters, so that it gives no more than it has to."""
    named = [tag_word(tag) for tag in tags]
    scope = [[name] for name in named] if match_all else [named] if named else []
    if layer := filters.get("layer"):
        scope.append([f"L{words.layer(clean_name(layer, 'layer'))[0]}"])
    if filters.get("by"):
        scope.append([f"A{words.agent_id}"])
    return scope


def demands_of(
    tag_ids: Sequence[int],
    match_all: bool,
    scope_ids: Sequence[int],
    tag_links: Links = TAG_LINKS,
    scope_links: Links = SCOPE_LINKS,
) -> list[tuple[Links, Sequence[int]]]:
    """What each row must be linked to, one of the words in every demand; best first to walk along."""
    if match_all and len(tag_ids) > 1:
        demands: list[tuple[Links, Sequence[int]]] = [
            (tag_links, [tag]) for tag in rarest_first(tag_links, tag_ids)
        ]
    else:
        demands = [(tag_links, tag_ids)] if tag_ids else []
    return [*demands, (scope_links, scope_ids)] if scope_ids else demands


def clean_status(filters: DecisionFilters) -> DecisionStatus | None:
    said = filters.get("status", "any" if filters.get("key") else "active")
    if str(said).strip().lower() == "any":
        return None
    try:
        return clean_choice(said, DecisionStatus, "status")
    except InvalidInput:
        raise unknown_word("status", said, [*DecisionStatus.labels, "any"]) from None


def _plain(project_id: int, words: Words, filters: DecisionFilters) -> list[Condition]:
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


def _linked(links: Links, ids: Sequence[int], *, negated: bool = False) -> Condition:
    exists = "NOT EXISTS" if negated else "EXISTS"
    statement = f"SELECT 1 FROM {links.table} y WHERE y.decision_id = d.id AND "  # noqa: S608
    among, values = sql.among(f"y.{links.column}", ids)
    return f"{exists} ({statement}{among})", values
