"""Notes when people look at the admin, and removes agents that only read."""

import threading
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model
from django.db import models

from ctxhub.core.accounts.models import Visit
from ctxhub.core.events.cleanup import in_words
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.models import Agent

ENDS_AFTER = timedelta(minutes=30)
NOTED_EVERY = timedelta(minutes=3)
# A page that renews itself asks without anybody being there: for so long its reader may still be.
READ_ON_FOR = timedelta(hours=4)


def last_visit(user_id: int, ends_after: timedelta = ENDS_AFTER) -> datetime | None:
    """When a person's visit before this one ended; None at the first. Three minutes early at most."""
    return _before(Visit.objects.filter(pk=user_id).first(), clock.now(), ends_after)


def note_visit(user_id: int) -> None:
    """Note that a person does something now. Costs no statement here: it is written in the background."""
    now = clock.now()
    with _lock:
        noted = _noted.get(user_id)
        if noted is None or not noted <= now < noted + NOTED_EVERY:
            _noted[user_id] = now
            LATER.put((user_id, now))


def _before(visit: Visit | None, now: datetime, ends_after: timedelta = ENDS_AFTER) -> datetime | None:
    if visit is None:
        return None
    return visit.last_at if now - visit.last_at > ends_after else visit.before_at


def _write(entries: Sequence[tuple[int, datetime]]) -> None:
    latest = dict(entries)
    # Another process has noted them as well: no write lock is taken for that.
    known = dict(Visit.objects.filter(pk__in=latest).values_list("pk", "last_at"))
    due = [user_id for user_id, at in latest.items() if user_id not in known or _is_due(known[user_id], at)]
    people = get_user_model().objects.filter(pk__in=due).order_by("pk").values_list("pk", flat=True)
    for user_id in people:
        with touch_transaction():
            _store(user_id, latest[user_id])


def _is_due(noted: datetime, at: datetime) -> bool:
    return at >= noted + NOTED_EVERY


def _store(user_id: int, at: datetime) -> None:
    visit, is_new = Visit.objects.select_for_update().get_or_create(pk=user_id, defaults={"last_at": at})
    if not is_new:
        visit.before_at, visit.last_at = _before(visit, at), max(at, visit.last_at)
        visit.save()


# When this process last noted each person: only a throttle.
_noted: dict[int, datetime] = {}
_lock = threading.Lock()
when_replaced.append(_noted.clear)
LATER = BackgroundWriter("noting visits of people", _write)


VISITORS_LAST = timedelta(days=7)
LOOKED_AT_ONCE = 200
EVERY = timedelta(hours=1)

# Tables that hold agents' names without a foreign key: table and column of the case-folded name.
named_in: list[tuple[str, str]] = []


def remove_visitors(project_id: int, now: datetime) -> dict[str, int]:
    """Remove agents not seen for a week that wrote nothing, own nothing and were never addressed.

    People and agents with their own token stay. Runs once an hour, inside the project's transaction; returns
    how many were removed.
    """
    last = _looked.get(project_id)
    if last and last <= now < last + EVERY:
        return {}
    _looked[project_id] = now
    visitors = _visitors(project_id, now - VISITORS_LAST)
    if not visitors:
        return {}
    among, values = sql.among("id", visitors)
    sql.execute(f"DELETE FROM core_agent WHERE {among}", values)
    removed = {"agents": len(visitors)}
    change = Change("hub", "cleaned", "hub:cleanup", {**removed, "note": in_words(removed)})
    record(project_id=project_id, agent_id=None, changes=[change], at=now)
    return removed


def _visitors(project_id: int, before: datetime) -> list[int]:
    """The ids of agents that nothing refers to.

    Reads the last seen first, so that old agents kept for another reason do not fill the 200 that are read.
    """
    found = sql.rows(
        """SELECT id, folded FROM core_agent a
        WHERE project_id = %s AND last_seen_at < %s AND kind = %s AND NOT EXISTS (
            SELECT 1 FROM core_event e WHERE e.project_id = a.project_id AND e.agent_id = a.id)
        ORDER BY last_seen_at DESC LIMIT %s""",
        [project_id, sql.stored_time(before), Agent.Kind.AGENT.value, LOOKED_AT_ONCE],
    )
    left: dict[int, str] = dict(found)
    for table, column, is_name in _references():
        if not left:
            break
        candidates = sorted(left.values()) if is_name else sorted(left)
        present = _present(project_id, table, column, candidates)
        left = {i: name for i, name in left.items() if (name if is_name else i) not in present}
    return sorted(left)


def _present(
    project_id: int, table: str, column: str, candidates: Sequence[int] | Sequence[str]
) -> Collection[object]:
    """The candidates that occur in a column."""
    among, values = sql.among(column, candidates)
    found = sql.rows(
        f"SELECT DISTINCT {column} FROM {table} WHERE project_id = %s AND {among}",
        [project_id, *values],
    )
    return {value for (value,) in found}


def _references() -> Iterator[tuple[str, str, bool]]:
    """Columns with ids or names of agents: table, column, is_name. Indexed columns first: they are fast."""
    pointing = [
        relation.field
        for relation in Agent._meta.get_fields(include_hidden=True)
        if isinstance(relation, models.ManyToOneRel)
    ]
    for field in sorted(pointing, key=lambda field: not _is_indexed(field)):
        yield field.model._meta.db_table, field.column, False
    yield from ((table, column, True) for table, column in named_in)


def _is_indexed(field: "models.ForeignKey[Agent, Agent]") -> bool:
    return any(field.name in index.fields[:2] for index in field.model._meta.indexes)


# When this process last checked each project: only a throttle.
_looked: dict[int, datetime] = {}
when_replaced.append(_looked.clear)
