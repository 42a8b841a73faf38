"""Restores a backup of PostgreSQL in one transaction: the old tables go, the new ones come, ids are lifted.

Calls of the hub wait meanwhile. The connections of others end before the commit, so that each process finds
with its next one that the database was restored.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from ctxhub.core.kit import clock
from ctxhub.core.kit.restored import expect_restore
from ctxhub.core.kit.restored_key import WaitingKey
from ctxhub.management.backups.archive import Archive
from ctxhub.management.backups.facts import compare, gather
from ctxhub.management.backups.manifest import DATABASES
from ctxhub.management.backups.postgresql_dump import TABLES, lift_limits, load
from ctxhub.management.backups.restore import Restore, Restored, migrate
from ctxhub.management.backups.tables import of_hub
from ctxhub.management.backups.work_folder import work_folder
from ctxhub.management.database import own_backends
from ctxhub.management.lifting_ids import GIVEN_ON_POSTGRESQL, SET_ON_POSTGRESQL, Ids, Lifted, higher_ids

TRIES = 20
SECONDS_A_TRY = 3
MILLISECONDS_TO_END = 5_000
_NOTE = """INSERT INTO core_hubrecord (kind, at, details) VALUES ('restore', %s, %s::jsonb)
    ON CONFLICT (kind) DO UPDATE SET at = excluded.at, details = excluded.details"""
_FUNCTIONS = """SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'core\\_%'"""
_OTHERS = """FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
    AND usename = current_user AND pid <> pg_backend_pid() AND pid <> ALL(%s)
    AND (application_name IN ('', current_setting('application_name')) OR application_name LIKE 'ctxhub%%')"""
_END = {
    True: f"SELECT count(pg_terminate_backend(pid, {MILLISECONDS_TO_END})) {_OTHERS}",
    False: f"SELECT count(pg_terminate_backend(pid)) {_OTHERS}",
}
_HAS_TIMEOUT = 140_000  # Since version 14 it can wait until they have ended.


def restore(job: Restore) -> Restored:
    """Raises BadBackup, CommandError, DatabaseError and OSError."""
    var = Path(settings.VAR_DIR)
    var.mkdir(parents=True, exist_ok=True)
    with work_folder(var) as work:
        job.say("Reading and checking the backup.")
        dumped = _dump_of(job.archive, work)
        connection.close()
        with _transaction() as server:
            _refuse_other_schema(job.archive, server)
            job.refuse_filled(f"The database {server.info.dbname}", is_empty=_is_empty(server))
            job.say("Restoring: calls of a hub that runs wait meanwhile.")
            _lock_all(server)
            given, is_same = _given(server), _hub(server) == job.archive.manifest.hub
            with _undone():
                _drop_all(server)
                load(dumped, job.archive.manifest.schema, server)
            _check(job.archive, server)
            lifted = _lift(server, given, are_all=is_same)
            server.execute(_NOTE, [clock.now(), job.details()])
            _commit(job, server)
    expect_restore()
    migrated = migrate()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return Restored(job, lifted, migrated)


def restore_copy(archive: Archive) -> None:
    """Load the rows alone into the database that this thread is connected to, which is empty."""
    with work_folder(Path(settings.VAR_DIR)) as work, _transaction() as server:
        _refuse_other_schema(archive, server)
        if _tables(server):
            raise CommandError(f"The database {server.info.dbname} is not empty.")
        with _undone():
            load(_dump_of(archive, work), archive.manifest.schema, server)
        _check(archive, server)
        server.commit()
    expect_restore()


@contextmanager
def _transaction() -> Iterator[Any]:
    """A connection of its own, whose transaction is rolled back unless it is committed inside."""
    import psycopg

    with connection.wrap_database_errors:
        server = psycopg.connect(**connection.get_connection_params())
        try:
            lift_limits(server)
            yield server
        finally:
            server.close()


@contextmanager
def _undone() -> Iterator[None]:
    """Turn an error of the server into a CommandError: the transaction is rolled back."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0]
        raise CommandError(f"The dump cannot be loaded, and nothing was changed: {reason}") from error


def _dump_of(archive: Archive, work: Path) -> Path:
    dumped = work / "dump"
    archive.copy(DATABASES["postgresql"], dumped)
    return dumped


def _refuse_other_schema(archive: Archive, server: Any) -> None:
    [(schema,)] = server.execute("SELECT current_schema()").fetchall()
    if schema != archive.manifest.schema:
        raise CommandError(
            f"{archive.path} is of the schema {archive.manifest.schema}, and the search_path of this "
            f"database begins with {schema}. Nothing was changed."
        )


def _commit(job: Restore, server: Any) -> None:
    """The key waits beside the old one. From the commit on, whoever looks puts it in place."""
    key = WaitingKey(Path(settings.KEY_FILE), job.key, job.id) if job.key else None
    try:
        _end_others(server)
    except BaseException:
        if key:
            key.settle(is_committed=False)
        raise
    server.commit()
    if key:
        key.settle(is_committed=True)


# -- The old tables --------------------------------------------------------------------------------


def _tables(server: Any) -> list[str]:
    return of_hub(name for (name,) in server.execute(TABLES).fetchall())


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _is_empty(server: Any) -> bool:
    """Whether it has nobody's data: no tables, or neither projects nor people."""
    found = {"core_project", "auth_user"} & set(_tables(server))
    return not any(_first(server, f"SELECT EXISTS (SELECT 1 FROM {table})") for table in found)


def _lock_all(server: Any) -> None:
    """Wait until nobody uses a table. Tried again where others wait for this and this for them."""
    import psycopg

    names = _quoted(_tables(server))
    if not names:
        return
    for _ in range(TRIES):
        try:
            with server.transaction():
                server.execute(f"SET LOCAL lock_timeout = '{SECONDS_A_TRY}s'")
                server.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            continue
        return
    raise CommandError(
        f"Others have kept the tables busy for {TRIES * SECONDS_A_TRY} s, such as a backup or a dump: "
        "nothing was changed. Stop them, then restore again."
    )


def _drop_all(server: Any) -> None:
    """What is not a hub's stays; it is an error if that refers to what goes."""
    if names := _quoted(_tables(server)):
        server.execute(f"DROP TABLE {names}")
    for (function,) in server.execute(_FUNCTIONS).fetchall():
        server.execute(f"DROP FUNCTION {function}")


def _given(server: Any) -> Ids:
    return dict(server.execute(GIVEN_ON_POSTGRESQL, []).fetchall())


def _hub(server: Any) -> str:
    """The id of the hub that is replaced, "" if it has none yet."""
    if "core_hubrecord" not in _tables(server):
        return ""
    return str(_first(server, "SELECT details->>'id' FROM core_hubrecord WHERE kind = 'hub'") or "")


# -- The new ones ----------------------------------------------------------------------------------


def _check(archive: Archive, server: Any) -> None:
    compare(gather(lambda statement: server.execute(statement).fetchall(), TABLES), archive.manifest)


def _lift(server: Any, given: Ids, *, are_all: bool) -> Lifted:
    now = _given(server)
    higher = higher_ids(now, given or None, are_all=are_all)
    for name, last in higher.items():
        server.execute(SET_ON_POSTGRESQL, [name, last])
    return Lifted(len(higher), len(now))


def _end_others(server: Any) -> None:
    """They wait for the locks of this transaction, or rest: nothing of theirs is lost."""
    own: Sequence[int] = own_backends()
    server.execute(_END[server.info.server_version >= _HAS_TIMEOUT], [list(own)])


def _first(server: Any, statement: str) -> Any:
    found = server.execute(statement).fetchone()
    return found[0] if found else None
