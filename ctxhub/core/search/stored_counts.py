"""Counts of terms of large projects, stored for all processes: counting one takes up to 10 ms on PostgreSQL.

Each agent starts a process of its own over stdio, and its first brief would count a dozen of them.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.accounts.projects import by_existing_project
from ctxhub.core.events.cleanup import REMOVED_AT_ONCE
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.counts import Counts, How
from ctxhub.core.kit.transactions import touch_transaction

# The weight of a common term hardly changes within a day.
KEPT = timedelta(days=1)
TERM_LENGTH = 200

TERM_COUNTS = Counts("core_termcount", ("term",), {"count": How.LATEST, "counted_at": How.LATEST})

Counted = tuple[int, str, int]
"""The id of the project, the term, and its count."""


def read_counts(project_id: int, terms: Collection[str]) -> dict[str, int]:
    """Return the stored counts of terms; those that are not stored, or older than a day, are left out."""
    if not terms:
        return {}
    statement, values = stored_counts_of(project_id, terms)
    return {term: int(count) for term, count in sql.rows(statement, values)}


def stored_counts_of(project_id: int, terms: Collection[str]) -> tuple[str, list[Any]]:
    """Return SQL for the `term` and `count` of what `read_counts` reads, and its values."""
    among, values = sql.among("term", list(terms)) if terms else ("1 = 0", [])
    statement = f"""
        SELECT term, count FROM core_termcount WHERE project_id = %s AND {among} AND counted_at >= %s"""
    return statement, [project_id, *values, sql.stored_time(clock.now() - KEPT)]


def store_later(project_id: int, counts: Mapping[str, int]) -> None:
    """Store counts in the background."""
    for term, count in counts.items():
        if len(term) <= TERM_LENGTH:
            WRITER.put((project_id, term, count))


def write_counts(counted: Sequence[Counted]) -> None:
    """Store counts, one transaction a project. No project's write lock is needed."""
    for project_id, of_project in by_existing_project(counted, lambda each: each[0]):
        latest = {term: count for _, term, count in of_project}
        at = sql.stored_time(clock.now())
        with touch_transaction():
            TERM_COUNTS.add(project_id, [(term, count, at) for term, count in latest.items()])


def clean_counts(project_id: int, now: datetime, *_: object) -> None:
    """Delete counts that are too old to be used, at most 500."""
    TERM_COUNTS.delete_oldest(project_id, "counted_at", now - KEPT, REMOVED_AT_ONCE)


WRITER = BackgroundWriter("storing counts of common terms", write_counts)
