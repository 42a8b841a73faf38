"""The database: whether it answers fast enough, is migrated, indexed and current, with connections enough."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from statistics import median

from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.db.models import Max

from ctxhub.core.kit import clock
from ctxhub.core.kit.hub_files import NotAHub
from ctxhub.core.models import Event, Project
from ctxhub.core.search.index_check import SAMPLE, count_index, find_faults, out_of_step, wrong_parts
from ctxhub.management.doctor.findings import OK, PROBLEM, Finding, ok
from ctxhub.management.refusals import refuse_unmigrated, refuse_unreachable, unusable_database

ASKED, SLOW_SECONDS = 20, 0.02
SKEW = timedelta(seconds=5)
CONNECTIONS_OF_PROCESS = 12
OLD_SECONDS = 10


def check_database() -> Iterator[Finding]:
    """20 short statements: a call sends some, each as long on its way."""
    fix = "Mend DATABASE_URL, or start the database; a new hub makes its own: manage.py setup"
    try:
        refuse_unreachable()
        seconds = _seconds()
    except (DatabaseError, NotAHub) as error:
        yield Finding(PROBLEM, unusable_database(error), fix)
        return
    text = f"{connection.vendor} answers within {seconds * 1000:.1f} ms"
    if seconds > SLOW_SECONDS:
        fix = "Put hub and database on one machine or in one network, and the file of SQLite on a local disk."
        yield Finding(PROBLEM, f"{text}, which makes each call slow", fix)
    else:
        yield ok(text)


def _seconds() -> float:
    took = []
    with connection.cursor() as cursor:
        for _ in range(ASKED):
            began = time.perf_counter()
            cursor.execute("SELECT count(*) FROM django_migrations WHERE app = 'core'")
            cursor.fetchone()
            took.append(time.perf_counter() - began)
    return median(took)


def check_migrations() -> Iterator[Finding]:
    try:
        refuse_unmigrated()
    except CommandError as error:
        yield Finding(PROBLEM, str(error), "manage.py setup, after a backup: docs/team-server.md, Upgrade")
    else:
        yield ok("every migration is applied")


def check_index() -> Iterator[Finding]:
    ids = list(Project.objects.values_list("pk", flat=True))
    wrong = [*wrong_parts(), *out_of_step(), *find_faults(ids)]
    entries, _ = count_index(ids)
    if wrong:
        text = f"the search index of {entries:,} things has {len(wrong):,} faults"
        yield Finding(PROBLEM, text, "manage.py reindex")
    else:
        yield ok(f"the search index of {entries:,} things is right, {min(entries, SAMPLE):,} compared")


def check_clock() -> Iterator[Finding]:
    """The clock of this machine against the database's, and against the newest event."""
    ahead = timedelta(0)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            ahead = clock.now() - cursor.fetchone()[0]
    newest: datetime | None = Event.unscoped.aggregate(newest=Max("at"))["newest"]
    fix = "Let both machines set their clocks: timedatectl set-ntp true"
    if abs(ahead) > SKEW:
        text = f"this machine's clock differs from the database's by {abs(ahead).total_seconds():.0f} s"
        yield Finding(PROBLEM, text, fix)
    elif newest and newest - clock.now() > SKEW:
        text = f"the newest event is of {clock.format_time(newest)}, which is still to come here"
        yield Finding(PROBLEM, text, fix)
    else:
        yield ok("the clock agrees with the database")


def check_replica() -> Iterator[Finding]:
    """Whether a streaming replica follows: what it answers is as old as what it has replayed last."""
    if connection.vendor != "postgresql":
        yield ok("SQLite has no replicas")
        return
    with connection.cursor() as cursor:
        cursor.execute(_REPLICA)
        found = cursor.fetchone()
    yield replica_finding(*found)


def replica_finding(is_replica: bool, receives: bool, has_all: bool, behind: float) -> Finding:
    """`has_all`: it has replayed what it has received. `behind`: how many seconds ago that was committed."""
    if not is_replica:
        return ok("the database is no replica of another one")
    if not receives:
        text = "the database is a replica that receives nothing: what it answers grows old"
        fix = "The replica's log says why; see primary_conninfo, and the slot on the primary."
        return Finding(PROBLEM, text, fix)
    if not has_all and behind > OLD_SECONDS:
        text = f"the database is a replica, {behind:.0f} s behind: what it answers is as old"
        fix = "A long read holds it back (max_standby_streaming_delay), or its disk or network is too slow."
        return Finding(PROBLEM, text, fix)
    return ok("the database is a replica that follows: reads are answered, writes refused")


def check_connections(workers: int = 0) -> Iterator[Finding]:
    """`workers`: as `serve` is given; 0: those that are connected now."""
    if connection.vendor != "postgresql":
        yield Finding(OK, "SQLite has no limit of connections")
        return
    with connection.cursor() as cursor:
        cursor.execute(_CONNECTIONS)
        most, reserved, used_by_others, seen = cursor.fetchone()
    processes = max(workers, seen, 1)
    needed, free = processes * CONNECTIONS_OF_PROCESS, most - reserved - used_by_others
    text = (
        f"{processes} processes of the hub may open {needed} connections, and PostgreSQL has {free} for them"
    )
    if needed > free:
        enough = needed + reserved + used_by_others
        fix = f"ALTER SYSTEM SET max_connections = {enough}; then restart PostgreSQL, or serve fewer workers."
        yield Finding(PROBLEM, text, fix)
    else:
        yield ok(text)


# Whoever may not see what a receiver does still sees that there is one.
_REPLICA = """
    SELECT pg_is_in_recovery(), EXISTS (SELECT 1 FROM pg_stat_wal_receiver WHERE pid IS NOT NULL),
        coalesce(pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn(), false),
        coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)"""
_CONNECTIONS = """
    SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int,
        count(*) FILTER (WHERE application_name NOT LIKE 'ctxhub%'),
        count(DISTINCT application_name) FILTER (
            WHERE application_name LIKE 'ctxhub%' AND pid <> pg_backend_pid())
    FROM pg_stat_activity WHERE backend_type = 'client backend'"""
