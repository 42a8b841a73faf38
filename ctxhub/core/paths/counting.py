"""Counts changes of files on the objects that bear on them: the objects are stale until confirmed.

Each change of a file that an object names by its path counts. Below the folder globs of an object a day of
changes counts once, however many files and globs: a hundred files of one piece of work say no more than one.

Not in the transaction of the change. A cursor says up to which event changes are counted, so that every
process may count, and none is lost or counted twice.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from ctxhub.core.events.log import recorded
from ctxhub.core.kit import sql
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.bearing import EVERYWHERE, bear_on, bears_on, is_named
from ctxhub.core.paths.case import Compared, as_written, compared_in
from ctxhub.core.paths.counts import (
    NewChanges,
    Written,
    add_changes,
    read_events,
    read_position,
    read_written,
    store_position,
)
from ctxhub.core.paths.queries import Bearing, find_candidates, nouns_with_paths, patterns_that_exempt
from ctxhub.core.text.path_case import fold_path

# An author knows the changes that they make within this time.
AUTHOR_KNOWS = timedelta(hours=24)
AT_ONCE = timedelta()
EVENTS_AT_ONCE = 25
ROWS_AT_ONCE = 500
# A cleanup, which may be part of a write, counts so many batches.
BATCHES_IN_CLEANUP = 5
# The cursor need not pass every event that is no change.
PASSED_AT_LEAST = 1_000

ChangedPath = Callable[[str, Mapping[str, Any]], str | None]
"""The path of the changed file by the ref and the data of an event; None if the event marks nothing."""

Bears = Mapping[str, Mapping[ObjectKey, bool]]
"""The objects that bear on each path, and whether one of their patterns is the path itself."""

# By noun of the event. The app that records changes registers how it names their files.
changed_paths: dict[str, ChangedPath] = {}


@frozen
class FileChange:
    path: str
    agent_id: int | None
    at: datetime


def count_changes(project_id: int) -> None:
    """Count all changes that are not counted yet, in short transactions."""
    while count_batch(project_id):
        pass


def count_batch(project_id: int, at_most: int = EVENTS_AT_ONCE) -> bool:
    """Count the next changes; whether there may be more. Matches their paths before it takes the lock."""
    counted, newest = read_position(project_id)
    if counted >= newest:
        return False
    events = read_events(project_id, list(changed_paths), counted, newest, at_most)
    is_last = len(events) < at_most
    position = newest if is_last else events[-1].id
    changes = [
        FileChange(path, event.agent_id, event.at)
        for event in events
        if (path := changed_paths[event.noun](event.ref, event.data))
    ]
    bearing = _objects_by_path(project_id, {change.path for change in changes})
    if not events and position - counted < PASSED_AT_LEAST:
        return False
    with write_transaction(project_id):
        if read_position(project_id)[0] != counted:
            return True  # Another process has counted them meanwhile.
        for some in sql.chunks(_new_changes(project_id, changes, bearing), ROWS_AT_ONCE):
            add_changes(some)
        store_position(project_id, position)
    return not is_last


def _new_changes(project_id: int, changes: Sequence[FileChange], bearing: Bears) -> list[NewChanges]:
    """How many of the changes that each object does not know count on it; only the objects with some.

    An object whose patterns have changed meanwhile was written after the changes, so it knows them.
    """
    written = _read_written(project_id, {key for keys in bearing.values() for key in keys})
    named: dict[ObjectKey, list[datetime]] = {}
    below: dict[ObjectKey, list[datetime]] = {}
    for change in changes:
        for key, is_by_name in bearing[change.path].items():
            if key in written and is_news(change, written[key]):
                (named if is_by_name else below).setdefault(key, []).append(change.at)
    found = []
    for key in sorted(named.keys() | below.keys()):
        days = first_of_days(below.get(key, ()), written[key].folders_at)
        if times := [*named.get(key, ()), *days]:
            found.append(NewChanges(*key, len(times), min(times), max(days, default=None)))
    return found


def first_of_days(times: Iterable[datetime], after: datetime | None) -> Sequence[datetime]:
    """The first time of each day (UTC) of these, without the days up to that of `after`."""
    last = _day(after) if after else date.min
    firsts: dict[date, datetime] = {}
    for at in sorted(times):
        if _day(at) > last:
            firsts.setdefault(_day(at), at)
    return list(firsts.values())


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()


def is_news(change: FileChange, written: Written) -> bool:
    """Whether a change was made after a row was written, by another, or more than a day later."""
    passed = change.at - written.at
    return passed > (AUTHOR_KNOWS if change.agent_id == written.agent_id else AT_ONCE)


def _objects_by_path(project_id: int, paths: Collection[str]) -> Bears:
    """The objects that bear on the path by a glob or by its name."""
    named = sorted(paths)
    candidates = find_candidates(project_id, named, list(nouns_with_paths())) if named else []
    found = _matching(named, candidates, as_written)
    if all(fold_path(each) == each for each in (*named, *(each.pattern for each in candidates))):
        return found
    # The settings are read only where case makes a difference.
    without_case = _matching(named, candidates, fold_path)
    return found if found == without_case or compared_in(project_id) is as_written else without_case


def _matching(paths: Sequence[str], candidates: Sequence[Bearing], compared: Compared) -> Bears:
    exempting = patterns_that_exempt(candidates)
    keys: dict[str, list[ObjectKey]] = {}
    for each in candidates:
        if each.pattern != EVERYWHERE and each.key not in exempting:
            keys.setdefault(compared(each.pattern), []).append(each.key)
    objects: dict[str, dict[ObjectKey, bool]] = {path: {} for path in paths}
    for path, found in objects.items():
        file = compared(path)
        for pattern, known in keys.items():
            if bears_on(pattern, file):
                is_by_name = is_named([pattern], file)
                found.update((key, is_by_name or found.get(key, False)) for key in known)
        for key, patterns in exempting.items():
            if bear_on(read := list(map(compared, patterns)), file):
                found[key] = is_named(read, file)
    return objects


def _read_written(project_id: int, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, Written]:
    ids: dict[str, list[int]] = {}
    for kind, object_id in sorted(keys):
        ids.setdefault(kind, []).append(object_id)
    return {
        (kind, object_id): written
        for kind, noun in nouns_with_paths().items()
        if kind in ids
        for object_id, written in read_written(kind, noun.model._meta.db_table, project_id, ids[kind]).items()
    }


# -- When ------------------------------------------------------------------------------------------


@receiver(recorded)
def count_soon(project_id: int, nouns: set[str], **_: Any) -> None:
    """Count in the background as soon as the change is committed."""
    if not nouns.isdisjoint(changed_paths):
        transaction.on_commit(partial(WRITER.put, project_id))


def count_in_cleanup(project_id: int, *_: Any) -> None:
    """Count what a process that ended has left."""
    for _batch in range(BATCHES_IN_CLEANUP):
        if not count_batch(project_id):
            return


def _count_all(project_ids: Sequence[int]) -> None:
    for project_id in dict.fromkeys(project_ids):
        count_changes(project_id)


WRITER = BackgroundWriter("counting changes of files", _count_all)
