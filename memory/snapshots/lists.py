"""Lists of snapshots, with every filter and cursor."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_choice, clean_moment, clean_name, clean_query
from ctxhub.core.kit.listing import COUNTED_TO, Listing
from ctxhub.core.kit.pages import Condition, Filter, ListPlan, Page, any_of, few_linked, lead
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.matches import read_object_ids
from ctxhub.core.vocabulary.selectors.names import find_vocabulary, ids_of
from ctxhub.core.vocabulary.tag_filters import TagFilter, read_tag_filters
from memory.snapshots.models.snapshot import ActionType, Tier
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow
from memory.snapshots.rules.tiers import tier_range
from memory.snapshots.search import action_word
from memory.snapshots.selectors.snapshots import COLUMNS, list_rows
from memory.snapshots.sql.touched import read_touched_ids, touched_between

ORDER = ("-created_at", "-id")
FEW = COUNTED_TO  # With more matches than this, any index scan soon finds enough of them.


class SnapshotFilters(TypedDict, total=False):
    """The arguments of `snapshot list` that filter. None and "" are absent."""

    action_type: str | int | None
    tier: str | int | None
    tags: Sequence[str] | None
    by: str | None
    since: str | None
    until: str | None
    text: str | None


def find_snapshots(
    project_id: int, *, limit: int = 20, cursor: str | None = None, **filters: Unpack[SnapshotFilters]
) -> Page[SnapshotRow]:
    """A page of the snapshots that pass every filter, without contents, and their total."""
    plan = _plan(project_id, filters, clock.now())
    return SNAPSHOTS.page(project_id, plan, limit=limit, cursor=cursor, names=LISTED)


def list_snapshots(project_id: int, **query: Any) -> Listing:
    """The list, newest first."""
    page = find_snapshots(project_id, **query)
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
    scope = [[f"P{project_id}"], [kind_word("snapshot")]]
    scope += [[tag_word(tag) for tags in tagged for tag in tags]] if tagged else []
    scope += [[f"A{agent_id}"]] if wanted.by else []
    scope += [[action_word(wanted.action)]] if wanted.action else []
    return read_object_ids(Narrowing(scope), parse_filter(project_id, wanted.text))
