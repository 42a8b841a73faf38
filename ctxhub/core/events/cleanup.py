"""Retention: removes rows by age, as the project's settings say, and records an event.

Cleanup runs with the first write of each minute, and by `manage.py cleanup`.
"""

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from ctxhub.core.accounts.config import config_of
from ctxhub.core.accounts.models import Config
from ctxhub.core.events.log import Change, moment_of, record
from ctxhub.core.events.working_time import moment_before
from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import ROWS_AT_ONCE, do_first, in_batches
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_moment
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import register_agent

REMOVED_AT_ONCE = ROWS_AT_ONCE
EVERY = timedelta(minutes=1)
REST = 500  # A run pauses cleanup for this many times its duration.


class Count(Protocol):
    def __call__(self, project_id: int, before: datetime, *, sparing: bool) -> int: ...


class Remove(Protocol):
    def __call__(self, project_id: int, before: datetime, *, sparing: bool, at_most: int) -> int: ...


@frozen
class RetentionRule:
    """A kind of rows that are removed by age: `plural` is its key in responses.

    `count` and `remove` take the rows from before a time; `sparing` keeps those still needed whatever their
    age. `remove` runs inside the project's transaction, updates the counters and returns how many it removed.
    """

    plural: str
    lasts: Callable[[Config], timedelta]
    count: Count
    remove: Remove


# Rules for rows that expire; each app registers its own.
retention_rules: list[RetentionRule] = []
# Other periodic tasks of the apps, called with (project_id, now, config). A task that removes rows returns
# how many, by plural.
cleanup_tasks: list[Callable[[int, datetime, Config], Mapping[str, int] | None]] = []


def clear(
    *, caller: Caller, older_than: Mapping[str, str | None], dry_run: bool = False
) -> dict[str, int | bool]:
    """Remove rows older than the given times, by plural: exactly these, and no other kinds.

    Without times the project's settings apply, as in every cleanup. Returns how many rows of each kind were
    removed. With `dry_run` how many would be, `dry_run` and all together as `would_prune`.
    """
    if not dry_run:
        caller.require(ADMIN, "Clearing")
    exact = {plural: _moment(caller, plural, value) for plural, value in older_than.items() if value}
    cutoffs = exact or _cutoffs(config_of(caller.project_id), clock.now())
    if dry_run:
        counts = {
            rule.plural: rule.count(caller.project_id, cutoffs[rule.plural], sparing=not exact)
            if rule.plural in cutoffs
            else 0
            for rule in retention_rules
        }
        return {"dry_run": True, "would_prune": sum(counts.values()), **counts}
    _cleaned[caller.project_id] = (clock.now(), EVERY)
    remove = partial(_remove, caller.project_id, cutoffs, caller, sparing=not exact)
    removed = in_batches(partial(do_first, f"{caller.project_id}:clear", remove))
    return {rule.plural: removed[rule.plural] for rule in retention_rules}


def cleanup(project_id: int) -> dict[str, int]:
    """Remove all expired rows and run the cleanup tasks; returns how many rows were removed, by plural."""
    removed: dict[str, int] = {rule.plural: 0 for rule in retention_rules}
    while counts := _clean_batch(project_id, clock.now()):
        removed |= {plural: removed.get(plural, 0) + count for plural, count in counts.items()}
    return removed


def cleanup_sometimes(project_id: int, now: datetime) -> None:
    """Clean up one batch, with the first write of each minute; with every write while more rows are expired.

    If a run takes long, because many old rows have to be kept, the next one waits 500 times as long.
    """
    last, pause = _cleaned.get(project_id, (now, timedelta()))
    if last <= now < last + pause:
        return
    started = time.perf_counter()
    removed = _clean_batch(project_id, now)
    took = timedelta(seconds=time.perf_counter() - started)
    has_more = sum(removed.values()) >= REMOVED_AT_ONCE
    _cleaned[project_id] = (now, timedelta() if has_more else max(EVERY, REST * took))


def _clean_batch(project_id: int, now: datetime) -> dict[str, int]:
    _cleaned[project_id] = (now, EVERY)  # So that the event it records does not start another run.
    with write_transaction(project_id):
        config = config_of(project_id)
        removed: dict[str, int] = {}
        for cleanup_task in cleanup_tasks:
            removed |= cleanup_task(project_id, now, config) or {}
        return removed | _remove(project_id, _cutoffs(config, now), None, sparing=True)


def _cutoffs(config: Config, now: datetime) -> dict[str, datetime]:
    return {rule.plural: moment_before(now, rule.lasts(config), config) for rule in retention_rules}


def _remove(
    project_id: int, cutoffs: Mapping[str, datetime], caller: Caller | None, *, sparing: bool
) -> dict[str, int]:
    """Remove at most 500 rows of each kind in one transaction, and record one event with the counts."""
    with write_transaction(project_id):
        counts = {
            rule.plural: rule.remove(
                project_id, cutoffs[rule.plural], sparing=sparing, at_most=REMOVED_AT_ONCE
            )
            for rule in retention_rules
            if rule.plural in cutoffs
        }
        removed = {plural: count for plural, count in counts.items() if count}
        if removed:
            at = clock.now()
            record(
                project_id=project_id,
                agent_id=register_agent(caller, at) if caller else None,
                changes=[Change("hub", "cleaned", "hub:cleanup", {**removed, "note": in_words(removed)})],
                at=at,
            )
    return removed


def in_words(counts: Mapping[str, int]) -> str:
    """`3 messages, 1 change`."""
    return ", ".join(counted(count, plural) for plural, count in counts.items() if count)


def _moment(caller: Caller, plural: str, value: str) -> datetime:
    moment = moment_of(caller.project_id, clean_moment(value, f"{plural}_older_than"))
    return moment or datetime.min.replace(tzinfo=clock.now().tzinfo)


# When this process last cleaned each project, and how long it waits since then: only a throttle.
_cleaned: dict[int, tuple[datetime, timedelta]] = {}
when_replaced.append(_cleaned.clear)
