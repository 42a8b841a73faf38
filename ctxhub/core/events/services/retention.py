"""What is not kept for ever: removed by age, as the project's settings say, and told in the log.

Cleaning runs with the first write of a minute, and by `manage.py cleanup`.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ctxhub.core.accounts.models.config import Config
from ctxhub.core.accounts.selectors.config import config_of
from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.events.working_time import moment_before
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.inputs import clean_moment
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.services.names import register_agent

REMOVED_AT_ONCE = 2_000
EVERY = timedelta(minutes=1)
REST = 500


class Count(Protocol):
    def __call__(self, project_id: int, before: datetime, *, sparing: bool) -> int: ...


class Remove(Protocol):
    def __call__(self, project_id: int, before: datetime, *, sparing: bool, at_most: int) -> int: ...


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """A kind of rows that are removed by age: `plural` names it in answers.

    `count` and `remove` take those from before a moment; `sparing` leaves what is still needed whatever its
    age. `remove` is called inside the project's transaction, keeps the tallies and answers how many went.
    """

    plural: str
    lasts: Callable[[Config], timedelta]
    count: Count
    remove: Remove


# Each app registers what it has that ages, and what else it does when time has passed: (project_id, now).
retention_rules: list[RetentionRule] = []
# A chore that removes something by itself answers how many rows went, by plural.
cleanup_tasks: list[Callable[[int, datetime], Mapping[str, int] | None]] = []


def clear(*, caller: Caller, older_than: Mapping[str, str | None], dry_run: bool = False) -> dict[str, int]:
    """Remove what is older than the moments given, by plural; exactly, and nothing of the other kinds.

    Where none is given the settings decide, as in every cleaning. Answers how many rows of each kind went,
    or would go.
    """
    if not dry_run:
        caller.require(ADMIN, "Clearing")
    said = {plural: moment for plural, moment in older_than.items() if moment}
    exact = {plural: _moment(caller, plural, moment) for plural, moment in said.items()}
    cutoffs = exact or _cutoffs(caller.project_id, clock.now())
    if dry_run:
        return {
            kind.plural: kind.count(caller.project_id, cutoffs[kind.plural], sparing=not exact)
            if kind.plural in cutoffs
            else 0
            for kind in retention_rules
        }
    _cleaned[caller.project_id] = (clock.now(), EVERY)
    gone = dict.fromkeys((kind.plural for kind in retention_rules), 0)
    while counted := _remove(caller.project_id, cutoffs, caller, sparing=not exact):
        gone = {plural: gone[plural] + counted.get(plural, 0) for plural in gone}
    return gone


def cleanup(project_id: int) -> dict[str, int]:
    """Remove all that has outlived the project's settings, and do the apps' chores; how many rows went."""
    gone: dict[str, int] = {kind.plural: 0 for kind in retention_rules}
    while counted := _tidy(project_id, clock.now()):
        gone |= {plural: gone.get(plural, 0) + count for plural, count in counted.items()}
    return gone


def cleanup_sometimes(project_id: int, now: datetime) -> None:
    """A part of it, with the first write of a minute; as long as there is more, with every write.

    Where a look takes long, since much is old and has to be spared, the next one waits in proportion.
    """
    last, rest = _cleaned.get(project_id, (now, timedelta()))
    if last <= now < last + rest:
        return
    started = time.perf_counter()
    gone = _tidy(project_id, now)
    took = timedelta(seconds=time.perf_counter() - started)
    has_more = sum(gone.values()) >= REMOVED_AT_ONCE
    _cleaned[project_id] = (now, timedelta() if has_more else max(EVERY, REST * took))


def _tidy(project_id: int, now: datetime) -> dict[str, int]:
    _cleaned[project_id] = (now, EVERY)  # What it tells the log is no reason to begin again.
    with write_transaction(project_id):
        gone: dict[str, int] = {}
        for cleanup_task in cleanup_tasks:
            gone |= cleanup_task(project_id, now) or {}
        return gone | _remove(project_id, _cutoffs(project_id, now), None, sparing=True)


def _cutoffs(project_id: int, now: datetime) -> dict[str, datetime]:
    config = config_of(project_id)
    return {kind.plural: moment_before(now, kind.lasts(config), config) for kind in retention_rules}


def _remove(
    project_id: int, cutoffs: Mapping[str, datetime], caller: Caller | None, *, sparing: bool
) -> dict[str, int]:
    """At most so many rows in one transaction, and one event that counts them."""
    with write_transaction(project_id):
        removed = {
            kind.plural: kind.remove(
                project_id, cutoffs[kind.plural], sparing=sparing, at_most=REMOVED_AT_ONCE
            )
            for kind in retention_rules
            if kind.plural in cutoffs
        }
        gone = {plural: count for plural, count in removed.items() if count}
        if gone:
            at = clock.now()
            record(
                project_id=project_id,
                agent_id=register_agent(caller, at) if caller else None,
                changes=[Change("hub", "cleaned", "hub:cleanup", {**gone, "note": in_words(gone)})],
                at=at,
            )
    return gone


def in_words(gone: Mapping[str, int]) -> str:
    """`3 messages, 1 change`."""
    return ", ".join(counted(count, plural) for plural, count in gone.items() if count)


def _moment(caller: Caller, plural: str, said: str) -> datetime:
    moment = moment_of(caller.project_id, clean_moment(said, f"{plural}_older_than"))
    return moment or datetime.min.replace(tzinfo=clock.now().tzinfo)


# When each project was last cleaned by this process, and how long that is enough; a throttle, nothing else.
_cleaned: dict[int, tuple[datetime, timedelta]] = {}
