"""Reads snapshots: lists with every filter, by id and by ref."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, NotRequired, Unpack

from django.db import connection

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.events.log import moment_of
from ctxhub.core.hub.direct_links import find_heads
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_choice, clean_moment, clean_name, clean_query, read_id
from ctxhub.core.kit.listing import COUNTED_TO, Listing, preview
from ctxhub.core.kit.ordering import Ordering
from ctxhub.core.kit.pages import Condition, Filter, ListPlan, any_of, few_linked, in_order, lead
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.search.alternatives import ids_with_words
from ctxhub.core.search.documents import tag_word
from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.vocabulary.names import find_vocabulary, ids_of
from ctxhub.core.vocabulary.tag_filters import TagFilter, read_tag_filters
from ctxhub.toolbox.argument_types import (
    SINCE,
    About,
    Author,
    ByAgent,
    Cursor,
    Limit,
    RowsOf,
    Says,
    Time,
    WithAnyTag,
    Word,
    one_of,
)
from memory.predictions.predictions import prediction_of
from memory.snapshots.causes import Linked, Links, read_links_of
from memory.snapshots.inputs import ActionWord
from memory.snapshots.models import ActionType, Tier
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow, action_word
from memory.snapshots.tiers import read_touched_ids, tier_of, tier_range, touched_between

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
    return {row_id: links.dependents for row_id, links in read_links_of(ids).items()}


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
    return _item(row, read_links_of([row.id])[row.id], find_causes(project_id, [row]), clock.now())


def reasons_item(project_id: int, row: SnapshotRow) -> dict[str, Any]:
    """Why a snapshot was made, and what it rests on."""
    links, causes = read_links_of([row.id], with_why=True)[row.id], find_causes(project_id, [row])
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
    links, causes = read_links_of(list(rows)), find_causes(project_id, rows.values())
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


ORDER = ("-created_at", "-id")
ORDERS = {"at": ["created_at"]}
FEW = COUNTED_TO  # With more matches than this, any index scan soon finds enough of them.


TierWord = Annotated[Word, Says("active|recent|archived|expired", in_description=False)]
ALL_WORDS = 'All these words are in it: summary, rationale, content, tags. "A phrase", -not, prefix*.'


class SnapshotFilters(TypedDict, total=False):
    """What `snapshot list` takes, before validation. None and "" are absent."""

    action_type: Annotated[ActionWord, About("Of this kind of action.")] | None
    tier: Annotated[TierWord, About("Last read within 1 h, 24 h, 30 days, or longer ago.")] | None
    tags: WithAnyTag | None
    by: ByAgent | None
    since: Annotated[str, About(f"Saved since. {SINCE}")] | None
    until: Annotated[str, About(f"Saved before. {SINCE}")] | None
    text: Annotated[str, About(ALL_WORDS)] | None
    limit: Limit
    cursor: Cursor | None


def list_snapshots(
    project_id: int, *, ordering: Ordering = None, **filters: Unpack[SnapshotFilters]
) -> Listing:
    """A page of the snapshots that pass every filter, newest first, without contents, and their total."""
    plan = in_order(_plan(project_id, filters, clock.now()), ordering, ORDERS)
    limit, cursor = filters.get("limit", 20), filters.get("cursor")
    page = SNAPSHOTS.page(project_id, plan, limit=limit, cursor=cursor, names=LISTED)
    rows = list_rows(project_id, page.rows)
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


@frozen
class _Wanted:
    """Validated filters; empty or None where none is given. `times`: the conditions on the creation."""

    action: ActionType | None
    tier: Tier | None
    tags: Sequence[TagFilter]
    by: str
    text: str
    times: Sequence[Condition]

    @property
    def is_only_tier(self) -> bool:
        return bool(self.tier) and not (self.action or self.tags or self.by or self.text or self.times)


def _clean(project_id: int, filters: SnapshotFilters) -> _Wanted:
    given: dict[str, Any] = {name: value for name, value in filters.items() if value not in (None, "")}
    return _Wanted(
        clean_choice(given["action_type"], ActionType, "action_type") if "action_type" in given else None,
        clean_choice(given["tier"], Tier, "tier") if "tier" in given else None,
        read_tag_filters(filters.get("tags"), "tags"),
        clean_name(given["by"], "by") if "by" in given else "",
        clean_query(given["text"], "text") if "text" in given else "",
        _between(project_id, filters),
    )


def _plan(project_id: int, filters: SnapshotFilters, now: datetime) -> ListPlan:
    wanted = _clean(project_id, filters)
    vocabulary = find_vocabulary(project_id, agent=wanted.by, tag_filters=wanted.tags)
    tagged = vocabulary.found_by(wanted.tags)
    linked = any_of(SNAPSHOTS.links["tags"], ids_of(tagged))
    if (wanted.tags and not linked) or (wanted.by and vocabulary.agent_id is None):
        return ListPlan(order=ORDER, is_empty=True)
    matching = _matching_ids(project_id, wanted, tagged, vocabulary.agent_id) if wanted.text else None
    few = few_linked(linked) if matching is None else matching
    if few == []:
        return ListPlan(order=ORDER, is_empty=True)
    conditions = [*wanted.times, *([sql.among("d.id", matching)] if matching else [])]
    if wanted.tier:
        after, until = tier_range(wanted.tier, now)
        if few is None and not linked:
            few = read_touched_ids(project_id, after, until, FEW + 1)
        conditions.append(touched_between(after, until, f"{_plus()}d.touched_at"))
        if until and not _are_few(few):
            # What was not read since a time was not made since: the list need not begin with the newest.
            conditions.append(("d.created_at <= %s", [sql.stored_time(until)]))
    columns: list[tuple[str, Any]] = [("agent_id", vocabulary.agent_id)] if wanted.by else []
    columns += [("action_type", wanted.action.value)] if wanted.action else []
    plan = _read_along(columns, conditions, few if _are_few(few) else None, linked)
    return replace(plan, total=len(few)) if few is not None and wanted.is_only_tier else plan


def _are_few(ids: Sequence[int] | None) -> bool:
    return ids is not None and len(ids) <= FEW


def _read_along(
    columns: Sequence[tuple[str, Any]],
    conditions: Sequence[Condition],
    ids: Sequence[int] | None,
    linked: Sequence[Filter],
) -> ListPlan:
    """Through the ids if they are few, else through the tags, else through the index of the first column."""
    through_tags = lead(linked) and ids is None
    plus = _plus()
    leads = ids is None and not through_tags
    equal = [
        (f"{'' if leads and n == 0 else plus}d.{column} = %s", [value])
        for n, (column, value) in enumerate(columns)
    ]
    if through_tags:
        return ListPlan.along(linked, [*equal, *conditions], order=ORDER, leads=leads)
    with_tags = [links.to_any(tag_ids) for links, tag_ids in linked]
    return ListPlan([*equal, *conditions, *with_tags], ORDER, ids=ids, leads=leads)


def _plus() -> str:
    """Keeps SQLite, which has no statistics, off the index of a column."""
    return "+" if connection.vendor == "sqlite" else ""


def _between(project_id: int, filters: SnapshotFilters) -> list[Condition]:
    """The conditions on the time of creation."""
    found: list[Condition] = []
    for name, comparison in (("since", ">="), ("until", "<")):
        value = clean_moment(filters.get(name), name)  # type: ignore[arg-type]
        if (moment := moment_of(project_id, value)) is not None:
            found.append((f"d.created_at {comparison} %s", [sql.stored_time(moment)]))
    return found


def _matching_ids(
    project_id: int, wanted: _Wanted, tagged: Sequence[Iterable[str]], agent_id: int | None
) -> list[int]:
    """The ids of snapshots that contain all words of a query: "a phrase", -not, prefix*."""
    scope = [[tag_word(tag) for tags in tagged for tag in tags]] if tagged else []
    scope += [[f"A{agent_id}"]] if wanted.by else []
    scope += [[action_word(wanted.action)]] if wanted.action else []
    return ids_with_words(project_id, "snapshot", wanted.text, scope)
