"""Reads snapshots by id and by ref."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.selectors.heads import find_heads
from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.toolbox.argument_types import About, Author, RowsOf, Time, one_of
from memory.snapshots.models.snapshot import ActionType, Tier
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow
from memory.snapshots.rules.tiers import tier_of
from memory.snapshots.selectors.predictions import prediction_of
from memory.snapshots.sql.links import Linked, Links, read_links

ActionLabel = Annotated[str, one_of(*ActionType.labels)]
TierLabel = Annotated[str, one_of(*Tier.labels)]
COLUMNS = ("id", "action_type", "summary", "tier", "caused_by", "tags", "agent", "at")
# The fields that say why a snapshot was made.
REASONS = ("id", "summary", "action_type", "rationale", "cause", "agent", "created_at", "updated_at")


CAUSE = About("The id of its cause, or its ref if that is no snapshot.")
Causes = Mapping[str, Head]
"""The heads of causes that are no snapshots, by kind and id as rows have them."""


class LinkedSnapshot(TypedDict):
    id: int
    summary: str
    why: NotRequired[Annotated[str | None, About("Its rationale in one line, where `why` was asked.")]]


class Cause(TypedDict):
    id: Annotated[int | str, About("A snapshot's id; of anything else its ref.")]
    summary: str
    why: NotRequired[Annotated[str, About("Its rationale or reason in one line, where `why` was asked.")]]


class ListedSnapshot(TypedDict):
    id: int
    action_type: ActionLabel
    summary: str
    tier: TierLabel
    caused_by: Annotated[int | str | None, CAUSE]
    tags: list[str]
    agent: Author
    at: Time


class Reasons(TypedDict):
    """Why a snapshot was made."""

    id: int
    action_type: ActionLabel
    rationale: str
    summary: str
    caused_by: Cause | None
    dependencies: Annotated[Listing, RowsOf(LinkedSnapshot), About("What it rests on besides its cause.")]
    dependents: Annotated[int, About("How many name it as their cause or dependency.")]


class Snapshot(Reasons):
    content: str
    tags: list[str]
    source: Annotated[str, About("Where it comes from: mcp, api, manual, or what its author said.")]
    metadata: dict[str, Any]
    session: NotRequired[Annotated[int, About("The session it was saved in.")]]
    tier: TierLabel
    access_count: int
    last_accessed: Annotated[str | None, About(schema={"format": "date-time"})]
    agent: Author
    at: Time
    prediction: NotRequired[Annotated[dict[str, Any], About("How likely it is to be read again.")]]


def get_snapshot(project_id: int, snapshot_id: int, fields: Sequence[str] = ()) -> SnapshotRow:
    """The snapshot of this id. Raises NotFound, also for a number too large for the database."""
    found = SNAPSHOTS.read(project_id, [snapshot_id], fields) if 0 < snapshot_id < 2**63 else {}
    if snapshot_id not in found:
        raise unknown_snapshot(snapshot_id)
    return found[snapshot_id]


def unknown_snapshot(snapshot_id: int | str, name: str = "") -> NotFound:
    """The error for an unknown id. `name`: the argument that holds it."""
    there_is = f"{name}: there is" if name else "There is"
    hint = f"{operation('snapshot list')} shows those there are."
    return NotFound(f"{there_is} no snapshot {shown(snapshot_id)}.", hint=hint)


def count_dependents(ids: Sequence[int]) -> dict[int, int]:
    """How many snapshots name each of these as cause or dependency."""
    return {row_id: links.dependents for row_id, links in read_links(ids).items()}


# -- Items -----------------------------------------------------------------------------------------


def find_causes(project_id: int, rows: Iterable[SnapshotRow]) -> Causes:
    """The causes of these snapshots that are no snapshots, with one query for each kind."""
    keys = {row.cause: _key(row.cause) for row in rows if row.cause}
    heads = find_heads(project_id, {*keys.values()}) if keys else {}
    return {cause: heads[key] for cause, key in keys.items() if key in heads}


def _key(cause: str) -> ObjectKey:
    kind, _, row_id = cause.partition(":")
    return kind, int(row_id)


def snapshot_item(project_id: int, row: SnapshotRow) -> dict[str, Any]:
    """A complete snapshot."""
    return _item(row, read_links([row.id])[row.id], find_causes(project_id, [row]), clock.now())


def reasons_item(project_id: int, row: SnapshotRow) -> dict[str, Any]:
    """Why a snapshot was made, and what it rests on."""
    links, causes = read_links([row.id], with_why=True)[row.id], find_causes(project_id, [row])
    return {
        "id": row.id,
        "action_type": row.action_label,
        "rationale": row.rationale,
        "summary": row.summary,
        **_links(links, causes.get(row.cause), with_why=True),
    }


def open_snapshots(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items of refs: complete if `full`, else a digest."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    now = clock.now()
    if not full:
        rows = SNAPSHOTS.read(project_id, list(ids), LISTED)
        causes = find_causes(project_id, rows.values())
        return {ids[n]: _digest(row, causes, now) for n, row in rows.items()}
    rows = SNAPSHOTS.read(project_id, list(ids))
    links, causes = read_links(list(rows)), find_causes(project_id, rows.values())
    return {ids[n]: _item(row, links[n], causes, now) for n, row in rows.items()}


def list_rows(project_id: int, rows: Sequence[SnapshotRow]) -> list[list[Any]]:
    """The values of COLUMNS."""
    causes, now = find_causes(project_id, rows), clock.now()
    return [
        [
            *(row.id, row.action_label, preview(row.summary), _tier(row, now), _cause(row, causes)),
            *(list(row.tags), row.agent, format_time(row.created_at)),
        ]
        for row in rows
    ]


def _cause(row: SnapshotRow, causes: Causes) -> int | str | None:
    head = causes.get(row.cause)
    return head.name if head else row.caused_by_id


def _item(row: SnapshotRow, links: Links, causes: Causes, now: datetime) -> dict[str, Any]:
    prediction = prediction_of(row)
    return {
        "id": row.id,
        "summary": row.summary,
        "content": row.content,
        "action_type": row.action_label,
        "rationale": row.rationale,
        **_links(links, causes.get(row.cause)),
        "tags": list(row.tags),
        "source": row.source,
        "metadata": dict(row.metadata),
        **({"session": row.session_id} if row.session_id else {}),
        "tier": _tier(row, now),
        "access_count": row.access_count,
        "last_accessed": format_time(row.last_accessed) if row.last_accessed else None,
        "agent": row.agent,
        "at": format_time(row.created_at),
        **({"prediction": prediction} if prediction else {}),
    }


def _digest(row: SnapshotRow, causes: Causes, now: datetime) -> dict[str, Any]:
    return {
        "summary": preview(row.summary),
        "action_type": row.action_label,
        "tier": _tier(row, now),
        "caused_by": _cause(row, causes),
        "at": format_time(row.created_at),
    }


def _links(links: Links, other: Head | None, *, with_why: bool = False) -> dict[str, Any]:
    """`other`: the cause if it is no snapshot."""
    linked = [_linked(one) for one in links.dependencies]
    columns = ("id", "summary", "why") if any("why" in one for one in linked) else ("id", "summary")
    return {
        "caused_by": _linked(links.cause) if links.cause else _shown(other, with_why) if other else None,
        "dependencies": Listing(columns, [[one.get(name) for name in columns] for one in linked]),
        "dependents": links.dependents,
    }


def _linked(one: Linked) -> Mapping[str, Any]:
    row_id, summary, rationale = one
    why = {"why": preview(in_one_line(rationale))} if rationale else {}
    return {"id": row_id, "summary": preview(summary), **why}


def _shown(head: Head, with_why: bool) -> Mapping[str, Any]:
    why = {"why": preview(in_one_line(head.why))} if with_why and head.why not in ("", head.summary) else {}
    return {"id": head.name, "summary": preview(head.summary), **why}


def _tier(row: SnapshotRow, now: datetime) -> str:
    return str(tier_of(row.touched_at, now).label)
