"""Reading a decision: its reasons, its history, and the keys near one that is unknown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_limit, clean_name, clean_one_of, clean_words
from ctxhub.core.kit.listing import Listing, make_cursor, preview, read_cursor
from memory.decisions.models.decision import Decision, DecisionRevision, DecisionStatus, typed_value
from memory.decisions.rows.decisions import DecisionRow, read_decisions

INCLUDES = ("rationale", "history", "links")
VERSION_COLUMNS = ("version", "value", "status", "agent", "at")
VERSIONS_SHOWN = 1_000

# -- One -------------------------------------------------------------------------------------------


def find_decision(project_id: int, key: str) -> DecisionRow | None:
    return read_decisions(project_id, [key]).get(key)


def decision_item(row: DecisionRow) -> dict[str, Any]:
    """A decision as the contract shows it; reasons and history come on request."""
    item: dict[str, Any] = {
        "key": row.key,
        "value": row.typed_value,
        "version": row.version,
        "status": row.status_label,
        "layer": row.layer,
        "tags": list(row.tags),
        "scopes": list(row.scopes),
        "paths": list(row.paths),
        "agent": row.agent,
        "updated": format_time(row.updated_at),
    }
    optional = {"metadata": row.metadata, "reason": row.reason, "superseded_by": row.superseded_by}
    return item | {name: value for name, value in optional.items() if value}


def included(project_id: int, row: DecisionRow, include: Sequence[str]) -> dict[str, Any]:
    """What `include` asks for: rationale (with alternatives and tradeoffs), history, links."""
    wanted = [clean_one_of(name, INCLUDES, "include") for name in clean_words(include, "include")]
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
    at_most = None if limit is None else clean_limit(limit)
    return _versions_of(project_id, row, full=full, limit=at_most, cursor=cursor)


def find_version(project_id: int, row: DecisionRow, version: str) -> dict[str, Any] | None:
    """A version of a decision, its value whole; the newest where several had its name."""
    version = clean_name(version, "version")
    if version == row.version:
        found = (row.value, row.value_type, row.status, row.agent, row.updated_at)
    else:
        revisions = DecisionRevision.objects.in_project(project_id).filter(decision_id=row.id)
        older = revisions.filter(version=version).order_by("-pk")
        if not (first := older.values_list("value", "value_type", "status", "agent__name", "at").first()):
            return None
        found = first
    return {"key": row.key, **dict(zip(VERSION_COLUMNS, _version_row(version, *found), strict=True))}


def _version_row(
    version: str, value: str, kind: int, status: int, agent: str | None, at: datetime, *, full: bool = True
) -> list[Any]:
    return [
        version,
        preview(typed_value(value, kind), full=full),
        _word(status),
        agent or "system",
        format_time(at),
    ]


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
            _version_row(version, value, kind, status, agent, at, full=full)
            for _, version, value, kind, status, agent, at in versions[:at_most]
        ],
        next=cursor_after(at_most) if limit and len(versions) > limit else None,
        cursor_after=cursor_after if limit else None,
    )


def _word(status: int) -> str:
    return str(DecisionStatus(status).label)


def ids_of_keys(project_id: int, keys: Sequence[str]) -> dict[str, int]:
    found = Decision.objects.in_project(project_id).filter(key__in=keys)
    return dict(found.values_list("key", "pk"))


def open_decisions(project_id: int, keys: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items behind refs; `full` with rationale, else a digest: the value cut short."""
    items = {}
    for key, row in read_decisions(project_id, keys).items():
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
