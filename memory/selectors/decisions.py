"""Reading decisions: one with its reasons and history, lists with every filter, versions, near keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core import sql as core_sql
from ctxhub.core.clock import spoken
from ctxhub.core.errors import InvalidInput
from ctxhub.core.inputs import (
    clean_choice,
    clean_limit,
    clean_match,
    clean_moment,
    clean_name,
    clean_one_of,
    clean_words,
)
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.core.selectors.events import moment_of
from ctxhub.core.selectors.words import Words, find_words
from memory import sql
from memory.models import Decision, DecisionRevision, DecisionStatus
from memory.models.decision import typed_value
from memory.sql import DecisionRow, Walk

INCLUDES = ("rationale", "history", "links")
SORTS = {"updated": "updated_at", "key": "key", "version": "version_order"}
COLUMNS = ("key", "value", "version", "status", "layer", "tags", "scopes", "agent", "updated")
VERSION_COLUMNS = ("version", "value", "status", "agent", "at")
VERSIONS_SHOWN = 1_000
SCOPES_WALKED = 10

# -- One -------------------------------------------------------------------------------------------


def find_decision(project_id: int, key: str) -> DecisionRow | None:
    return sql.read_decisions(project_id, [key]).get(key)


def decision_item(row: DecisionRow) -> dict[str, Any]:
    """A decision as the contract shows it; reasons and history come on request."""
    item: dict[str, Any] = {
        "key": row.key,
        "value": row.spoken_value,
        "version": row.version,
        "status": row.spoken_status,
        "layer": row.layer,
        "tags": list(row.tags),
        "scopes": list(row.scopes),
        "paths": list(row.paths),
        "agent": row.agent,
        "updated": spoken(row.updated_at),
    }
    optional = {"metadata": row.metadata, "reason": row.reason, "superseded_by": row.superseded_by}
    return item | {name: value for name, value in optional.items() if value}


def included(project_id: int, row: DecisionRow, include: Sequence[str]) -> dict[str, Any]:
    """What `include` asks for: rationale (with alternatives and tradeoffs), history, links."""
    wanted = [clean_one_of(name, INCLUDES, "include") for name in include]
    parts: dict[str, Any] = {}
    if "rationale" in wanted:
        parts |= {"rationale": row.rationale, "alternatives": row.alternatives, "tradeoffs": row.tradeoffs}
    if "history" in wanted:
        parts["history"] = _versions_of(project_id, row, full=True).answer()
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
    project_id: int, key: str, *, full: bool = False, limit: int | None = None, cursor: str | None = None
) -> Listing:
    """Every version of a decision, newest first, the current one included; none for an unknown key.

    With `limit` it comes in pages.
    """
    row = find_decision(project_id, clean_name(key, "key"))
    if row is None:
        return Listing(columns=VERSION_COLUMNS, rows=[])
    return _versions_of(project_id, row, full=full, limit=limit and clean_limit(limit), cursor=cursor)


def _versions_of(
    project_id: int, row: DecisionRow, *, full: bool, limit: int | None = None, cursor: str | None = None
) -> Listing:
    revisions = DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id).order_by("-pk")
    if cursor:
        revisions = revisions.filter(pk__lt=read_cursor(cursor, int)[0])
    now = (0, row.version, row.value, row.value_type, row.status, row.agent, row.updated_at)
    at_most = limit or VERSIONS_SHOWN
    older = revisions.values_list("pk", "version", "value", "value_type", "status", "agent__name", "at")
    versions = [*([] if cursor else [now]), *older[: at_most + 1]]

    def cursor_after(count: int) -> str:
        return make_cursor(versions[count][0] + 1)

    return Listing(
        columns=VERSION_COLUMNS,
        rows=[
            [
                version,
                preview(typed_value(value, kind), full=full),
                _word(status),
                agent or "system",
                spoken(at),
            ]
            for _, version, value, kind, status, agent, at in versions[:at_most]
        ],
        next=cursor_after(at_most) if limit and len(versions) > limit else None,
        cursor_after=cursor_after if limit else None,
    )


def _word(status: int) -> str:
    return str(DecisionStatus(status).label)


def open_decisions(project_id: int, keys: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items behind refs; `full` with rationale, else a digest: the value cut short."""
    items = {}
    for key, row in sql.read_decisions(project_id, keys).items():
        item = decision_item(row)
        if full:
            reasons = {
                "rationale": row.rationale,
                "alternatives": row.alternatives,
                "tradeoffs": row.tradeoffs,
            }
            item |= {name: value for name, value in reasons.items() if value}
        else:
            item = {"value": preview(item["value"]), "version": item["version"], "status": item["status"]}
        items[key] = item
    return items


# -- Near keys -------------------------------------------------------------------------------------


def near_keys(project_id: int, key: str, count: int = 5) -> list[str]:
    """Keys that a mistyped one may have meant, nearest first; looks at a bounded number of candidates."""
    from rapidfuzz import fuzz, process

    keys = Decision.objects.in_project(project_id).values_list("key", flat=True)
    candidates = {
        *keys.filter(key__gte=key).order_by("key")[:200],
        *keys.filter(key__lt=key).order_by("-key")[:200],
        *keys.order_by("-updated_at", "-id")[:2_000],
    }
    found = process.extract(key, sorted(candidates), scorer=fuzz.ratio, score_cutoff=60, limit=count)
    return [near for near, _, _ in found]


# -- Lists -----------------------------------------------------------------------------------------


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
            "version": sql.version_order(last.version),
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
    **filters: Unpack[DecisionFilters],
) -> DecisionPage:
    """One page of the decisions that pass every filter, and how many there are."""
    sort = clean_one_of(sort, list(SORTS), "sort")
    descending = clean_one_of(order, ["desc", "asc"], "order") == "desc"
    limit = clean_limit(limit)
    after = _place(cursor, sort) if cursor else None
    walk = _walk(project_id, SORTS[sort], descending, filters)
    if walk is None:
        return DecisionPage([], sort, has_more=False, total={"total": 0})
    rows = sql.list_decisions(walk, limit + 1, after)
    more = len(rows) > limit
    # A first page that holds everything has counted it.
    counted = len(rows) if after is None and not more else sql.count_decisions(walk, COUNTED_TO + 1)
    return DecisionPage(rows[:limit], sort, has_more=more, total=total_of(counted))


def list_decisions(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The contract's list: rows key, value, version, status, layer, tags, scopes, agent, updated."""
    page = find_decisions(project_id, **query)
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
    return core_sql.stored_time(place) if sort == "updated" else place, row_id


def _walk(project_id: int, sort: str, descending: bool, filters: DecisionFilters) -> Walk | None:
    """The filters as conditions; None where they name what does not exist, so that nothing can match."""
    tags = clean_words(filters.get("tags"), "tags")
    excluded = clean_words(filters.get("exclude_tags"), "exclude_tags")
    match_all = clean_match(filters.get("match", "any"))
    scope, layer = filters.get("scope"), filters.get("layer")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    words = find_words(project_id, agent=by, tags=[*tags, *excluded], layers=bool(layer))
    tag_ids = [words.tags[tag.casefold()] for tag in tags if tag.casefold() in words.tags]
    scope_ids = _scope_ids(project_id, scope) if scope else []
    impossible = (
        (tags and not tag_ids) or (match_all and len(tag_ids) < len(tags)) or (scope and not scope_ids)
    )
    conditions: list[sql.Condition] = [
        ("d.project_id = %s", [project_id]),
        *_plain(project_id, words, filters),
    ]
    if impossible or (by and words.agent_id is None):
        return None
    excluded_ids = [words.tags[tag.casefold()] for tag in excluded if tag.casefold() in words.tags]
    if excluded_ids:
        conditions.append(_linked(sql.TAG_LINKS, excluded_ids, negated=True))
    driver: tuple[sql.Links | None, Sequence[int]] = (None, ())
    if tag_ids and sort == "updated_at":
        driver = (sql.TAG_LINKS, tag_ids[:1] if match_all else tag_ids)
    elif scope_ids and sort == "updated_at" and len(scope_ids) <= SCOPES_WALKED:
        driver = (sql.SCOPE_LINKS, scope_ids)
    if tag_ids and match_all:
        conditions += [_linked(sql.TAG_LINKS, [tag]) for tag in tag_ids if tag not in driver[1]]
    elif tag_ids and driver[0] is not sql.TAG_LINKS:
        conditions.append(_linked(sql.TAG_LINKS, tag_ids))
    if scope and driver[0] is not sql.SCOPE_LINKS:
        is_wide = len(scope_ids) > SCOPES_WALKED
        conditions.append(_in_scopes_like(scope) if is_wide else _linked(sql.SCOPE_LINKS, scope_ids))
    return Walk(conditions, sort, descending, *driver)


def clean_status(filters: DecisionFilters) -> DecisionStatus | None:
    said = filters.get("status", "any" if filters.get("key") else "active")
    return None if str(said).strip().lower() == "any" else clean_choice(said, DecisionStatus, "status")


def _plain(project_id: int, words: Words, filters: DecisionFilters) -> list[sql.Condition]:
    conditions: list[sql.Condition] = []
    if key := filters.get("key"):
        conditions.append(("d.key = %s", [clean_name(key, "key")]))
    if layer := filters.get("layer"):
        conditions.append(("d.layer_id = %s", [words.layer(clean_name(layer, "layer"))[0]]))
    if filters.get("by"):
        conditions.append(("d.agent_id = %s", [words.agent_id]))
    if status := clean_status(filters):
        # The plus keeps SQLite off the status' index where another filter has a narrower one. PostgreSQL
        # has statistics, and the plus would hide the column from them: it then sorts all there is.
        is_beside = any(filters.get(name) for name in ("layer", "by", "tags", "scope"))
        plus = "+" if is_beside and connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.status = %s", [status.value]))
    for name, comparison in (("since", ">="), ("until", "<")):
        said = clean_moment(filters.get(name), name)  # type: ignore[arg-type]
        if (moment := moment_of(project_id, said)) is not None:
            conditions.append((f"d.updated_at {comparison} %s", [core_sql.stored_time(moment)]))
    return conditions


def _linked(links: sql.Links, ids: Sequence[int], *, negated: bool = False) -> sql.Condition:
    exists = "NOT EXISTS" if negated else "EXISTS"
    statement = f"SELECT 1 FROM {links.table} y WHERE y.decision_id = d.id AND y.{links.column} IN "  # noqa: S608
    return f"{exists} ({statement} ({core_sql.marks(ids)}))", list(ids)


def _scope_ids(project_id: int, scope: str) -> list[int]:
    """The scopes of this name, or of this glob (`api/*`): enough of them to see whether there are many."""
    folded = clean_name(scope, "scope").casefold()
    if "*" not in folded:
        return list(find_words(project_id, scopes=[folded]).scopes.values())
    found = core_sql.rows(
        "SELECT id FROM core_scope WHERE project_id = %s AND folded LIKE %s ESCAPE '\\' LIMIT %s",
        [project_id, _like(folded), SCOPES_WALKED + 1],
    )
    return [row_id for (row_id,) in found]


def _in_scopes_like(scope: str) -> sql.Condition:
    statement = """EXISTS (SELECT 1 FROM memory_decisionscope y JOIN core_scope s ON s.id = y.scope_id
        WHERE y.decision_id = d.id AND s.folded LIKE %s ESCAPE '\\')"""
    return statement, [_like(clean_name(scope, "scope").casefold())]


def _like(glob: str) -> str:
    return glob.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
