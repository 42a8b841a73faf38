"""Tiers: how long ago a snapshot was last read or saved; what expired is deleted if nothing rests on it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from typing_extensions import TypedDict

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.batches import ROWS_AT_ONCE, do_first, in_batches
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.pages import Condition
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.index import forget
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import Time
from memory.snapshots.models import Snapshot, Tier
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow

# From this age on a snapshot is in a colder tier.
LIMITS = {
    Tier.ACTIVE: timedelta(hours=1),
    Tier.RECENT: timedelta(hours=24),
    Tier.ARCHIVED: timedelta(hours=720),
}


def tier_of(touched_at: datetime, now: datetime) -> Tier:
    """The tier of a snapshot that was last read, or saved, at this time."""
    age = now - touched_at
    return next((tier for tier, limit in LIMITS.items() if age < limit), Tier.EXPIRED)


def tier_range(tier: Tier, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The times `touched_at` of a tier: after the first, until and including the second; None: no limit."""
    after, until = LIMITS.get(tier), LIMITS.get(Tier(tier - 1)) if tier > Tier.ACTIVE else None
    return (now - after if after else None), (now - until if until else None)


def count_tiers(project_id: int, now: datetime) -> dict[Tier, int]:
    """The number of snapshots in each tier, by one range of an index each."""
    counted, values = [], []
    for tier in Tier:
        where, limits = _in_range(tier_range(tier, now))
        counted.append(f"(SELECT count(*) FROM memory_snapshot WHERE project_id = %s{where})")
        values += [project_id, *limits]
    [counts] = sql.rows(f"SELECT {', '.join(counted)}", values)
    return dict(zip(Tier, counts, strict=True))


def _in_range(limits: tuple[datetime | None, datetime | None]) -> Condition:
    """A further condition: `touched_at` is after the first time, and not after the second."""
    known = [(sign, limit) for sign, limit in zip((">", "<="), limits, strict=True) if limit]
    return (
        "".join(f" AND touched_at {sign} %s" for sign, _ in known),
        [sql.stored_time(limit) for _, limit in known],
    )


def update_tiers(project_id: int, now: datetime, at_most: int) -> int:
    """Correct the stored tiers of at most so many snapshots; returns of how many."""
    branches = [branch for tier in Tier for branch in _untrue(project_id, tier, now)]
    found = " UNION ALL ".join(f"SELECT id FROM ({text}) branch" for text, _ in branches)
    where = sql.among_found("id", f"SELECT id FROM ({found}) untrue LIMIT %s")
    limits = [(sql.stored_time(now - limit), tier.value) for tier, limit in LIMITS.items()]
    values: list[Any] = [value for pair in limits for value in pair]
    values += [value for _, some in branches for value in some]
    updated = sql.rows(
        f"""
        UPDATE memory_snapshot SET tier = CASE {"WHEN touched_at > %s THEN %s " * len(limits)} ELSE
        {Tier.EXPIRED.value} END WHERE {where} RETURNING id""",
        [*values, at_most],
    )
    return len(updated)


def _untrue(project_id: int, tier: Tier, now: datetime) -> list[Condition]:
    """Queries for the rows stored with this tier that are colder, and for those that are warmer."""
    after, until = tier_range(tier, now)
    wrong = (("<=", after), (">", until))
    query = "SELECT id FROM memory_snapshot WHERE project_id = %s AND tier = %s AND touched_at"
    return [
        (f"{query} {sign} %s", [project_id, tier.value, sql.stored_time(limit)])
        for sign, limit in wrong
        if limit
    ]


def touched_between(
    after: datetime | None, until: datetime | None, column: str = "d.touched_at"
) -> Condition:
    """The condition of a tier's range."""
    bounds = [(f"{column} > %s", after), (f"{column} <= %s", until)]
    given = [(text, sql.stored_time(moment)) for text, moment in bounds if moment]
    return " AND ".join(text for text, _ in given), [value for _, value in given]


def read_touched_ids(
    project_id: int, after: datetime | None, until: datetime | None, at_most: int
) -> list[int]:
    """The ids of some snapshots of a tier."""
    text, values = touched_between(after, until)
    rows = sql.rows(
        f"SELECT d.id FROM memory_snapshot d WHERE d.project_id = %s AND {text}"
        # In this order PostgreSQL reads the index, not the table.
        " ORDER BY d.touched_at, d.id LIMIT %s",
        [project_id, *values, at_most],
    )
    return [row_id for (row_id,) in rows]


class Tiers(TypedDict):
    active: int
    recent: int
    archived: int
    expired: int
    total: int


def get_tiers(project_id: int) -> Tiers:
    counts = count_tiers(project_id, clock.now())
    return Tiers(
        active=counts[Tier.ACTIVE],
        recent=counts[Tier.RECENT],
        archived=counts[Tier.ARCHIVED],
        expired=counts[Tier.EXPIRED],
        total=sum(counts.values()),
    )


class RetierAnswer(TypedDict):
    updated: int


def retier(*, caller: Caller) -> RetierAnswer:
    """Correct all stored tiers of the project, in transactions of 500 rows."""
    retier_batch = partial(_retier_batch, caller.project_id, clock.now())
    done = in_batches(partial(do_first, f"{caller.project_id}:tiers", retier_batch))
    return RetierAnswer(updated=done["tiers"])


def retier_some(project_id: int, now: datetime) -> None:
    """Correct at most 500 stored tiers. A cleanup task, which runs inside the project's transaction."""
    update_tiers(project_id, now, ROWS_AT_ONCE)


def _retier_batch(project_id: int, now: datetime) -> Mapping[str, int]:
    with write_transaction(project_id):
        updated = update_tiers(project_id, now, ROWS_AT_ONCE)
    return {"tiers": updated} if updated else {}


_FREE = """NOT EXISTS (SELECT 1 FROM memory_snapshot e WHERE e.caused_by_id = d.id)
    AND NOT EXISTS (SELECT 1 FROM memory_snapshotdependency x WHERE x.dependency_id = d.id)"""


def find_prunable(project_id: int, now: datetime, limit: int) -> list[int]:
    """The ids of expired snapshots that none names as cause or dependency.

    Those never read come first, then the ones read longest ago.
    """
    where, values = _expired(project_id, now)
    found = sql.rows(
        f"""
        SELECT d.id FROM memory_snapshot d WHERE {where} AND {_FREE}
        ORDER BY d.last_accessed IS NOT NULL, d.touched_at, d.id LIMIT %s""",
        [*values, limit],
    )
    return [row_id for (row_id,) in found]


def count_needed(project_id: int, now: datetime) -> int:
    """How many expired snapshots another one names as cause or dependency."""
    where, values = _expired(project_id, now)
    [(count,)] = sql.rows(f"SELECT count(*) FROM memory_snapshot d WHERE {where} AND NOT ({_FREE})", values)
    return int(count)


def _expired(project_id: int, now: datetime) -> Condition:
    _, until = tier_range(Tier.EXPIRED, now)
    assert until
    values: list[Any] = [project_id, sql.stored_time(until)]
    return "d.project_id = %s AND d.touched_at <= %s", values


COLUMNS = ("id", "summary", "last_accessed")
PRUNED_AT_ONCE = 100
_READ = (*("id", "summary", "last_accessed", "created_at", "updated_at"),)


class PrunedSnapshot(TypedDict):
    id: int
    summary: str
    last_accessed: Time | None


@frozen
class Pruned:
    """The snapshots pruned, or that would be. `kept`: how many expired ones others rest on."""

    rows: Sequence[SnapshotRow]
    kept: int
    is_dry: bool = False

    def listing(self) -> Listing:
        rows = [
            [row.id, preview(row.summary), format_time(row.last_accessed) if row.last_accessed else None]
            for row in self.rows
        ]
        dry = {"dry_run": True, "would_prune": len(rows)} if self.is_dry else {}
        pruned = 0 if self.is_dry else len(rows)
        return Listing(COLUMNS, rows, extra={**dry, "pruned": pruned, "kept": self.kept})


def prune_snapshots(*, caller: Caller, limit: int = 100, dry_run: bool = True) -> Pruned:
    """Delete at most `limit` (1 to 200) expired snapshots that none names as cause or dependency.

    Those never read go first, then the ones read longest ago. `dry_run` only tells which; without it the
    caller must be an administrator.
    """
    limit = clean_limit(limit)
    if dry_run:
        now = clock.now()
        return Pruned(_find(caller.project_id, now, limit), count_needed(caller.project_id, now), is_dry=True)
    caller.require(ADMIN, "Pruning")
    with write_transaction(caller.project_id):
        now = clock.now()
        kept = count_needed(caller.project_id, now)
        rows = _find(caller.project_id, now, limit)
        if rows:
            _delete(caller.project_id, register_agent(caller, now), [row.id for row in rows], now)
    return Pruned(rows, kept)


def prune_some(project_id: int, now: datetime) -> dict[str, int]:
    """Prune at most 100 snapshots; returns how many. Called inside the project's transaction."""
    ids = find_prunable(project_id, now, PRUNED_AT_ONCE)
    if not ids:
        return {}
    _delete(project_id, None, ids, now)
    return {"snapshots": len(ids)}


def _find(project_id: int, now: datetime, limit: int) -> list[SnapshotRow]:
    return list(SNAPSHOTS.read(project_id, find_prunable(project_id, now, limit), _READ).values())


def _delete(project_id: int, agent_id: int | None, ids: Sequence[int], now: datetime) -> None:
    """Delete snapshots, and record one event that names them all."""
    forget(project_id, "snapshot", ids)
    delete_rows(Snapshot, ids)
    add_to_counters(project_id, Counter({counter_key("snapshot"): -len(ids)}))
    data = {"ids": list(ids), "note": counted(len(ids), "snapshots")}
    change = Change("snapshot", "pruned", f"snapshot:{ids[0]}", data)
    record(project_id=project_id, agent_id=agent_id, changes=[change], at=now)
