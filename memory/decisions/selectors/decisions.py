"""Reads decisions: by key, with their reasons and versions, and by ref."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_limit, clean_name, clean_one_of, clean_words
from ctxhub.core.kit.listing import Listing, make_cursor, preview, read_cursor
from ctxhub.core.paths.rows import shown_staleness
from ctxhub.core.toolbox.argument_types import About, Author, StaleChanges, Time, one_of
from memory.decisions.inputs.schemas import ALTERNATIVES, TRADEOFFS
from memory.decisions.models.decision import Decision, DecisionRevision, DecisionStatus, typed_value
from memory.decisions.rows.decisions import DecisionRow, read_decisions

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
    project_id: int, key: str, *, full: bool = False, limit: int | None = None, cursor: str | None = None
) -> Listing:
    """List every version of a decision, newest first, with the current one; empty for an unknown key.

    `limit` turns on paging.
    """
    row = find_decision(project_id, clean_name(key, "key"))
    if row is None:
        return Listing(columns=VERSION_COLUMNS, rows=[])
    page_size = None if limit is None else clean_limit(limit)
    return _versions_of(project_id, row, full=full, limit=page_size, cursor=cursor)


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
    project_id: int, row: DecisionRow, *, full: bool, limit: int | None = None, cursor: str | None = None
) -> Listing:
    revisions = DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id).order_by("-pk")
    if cursor:
        revisions = revisions.filter(pk__lt=read_cursor(cursor, int)[0])
    current = (0, row.version, row.value, row.value_type, row.status, row.agent, row.updated_at)
    page_size = limit or VERSIONS_SHOWN
    older = revisions.values_list("pk", "version", "value", "value_type", "status", "agent__name", "at")
    versions = [*([] if cursor else [current]), *older[: page_size + 1]]

    def cursor_after(count: int) -> str:
        return make_cursor(versions[count][0] + 1)

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
    found = Decision.objects.in_project(project_id).filter(key__in=keys)
    return dict(found.values_list("key", "pk"))


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
