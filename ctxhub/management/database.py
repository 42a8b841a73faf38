"""The database that setup and migrate change: whether it is a hub's, whose turn it is, who has it open."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from pathlib import Path

from django.core.management.base import CommandError
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from ctxhub.core.kit.hub_files import APPLICATION_ID, APPS, Empty, Missing, open_hub
from ctxhub.core.kit.sqlite_file import close_to_others, make_file, try_lock, wait_until_filled
from ctxhub.core.kit.write_queue import refuse_foreign_lock_file
from ctxhub.management.holders import find_holders
from ctxhub.management.refusals import refuse_other_version

SECONDS_TO_WAIT = 600.0
TABLE = MigrationRecorder.Migration._meta.db_table
MARK = "ctxhub"  # The comment on that table in PostgreSQL.

Ask = Callable[[str], bool]
"""Asks a person a question; always False where nobody can be asked."""


# -- Whose it is -----------------------------------------------------------------------------------


def check_database(*, ask: Ask) -> bool:
    """Raise an error for a database that is not a hub's, or newer than this code. Changes nothing.

    A missing file may become a hub, an empty one if whoever is asked agrees; whether they did.
    """
    if connection.vendor == "postgresql":
        _refuse_foreign_server_database()
    else:
        refuse_foreign_lock_file(_file())
        try:
            open_hub(_file())
        except Missing:
            return False
        except Empty:
            if _is_to_be_filled(_file(), ask):
                return True
    refuse_other_version()
    return False


def _is_to_be_filled(file: Path, ask: Ask) -> bool:
    """Whether the empty file shall become a hub; False if another setup has made one of it."""
    try:
        wait_until_filled(file)
    except Empty as error:
        if not ask(f"{file} is there, and empty. Make a hub of it?"):
            raise CommandError(
                f"{file} is there, and empty: no hub is made of it without being asked. If it shall become "
                "one, remove it and run this again; else correct DATABASE_URL."
            ) from error
        return True
    return False


def _refuse_foreign_server_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL, obj_description(to_regclass(%s))", [TABLE, TABLE])
        has_table, mark = cursor.fetchone()
        if not has_table or mark == MARK:
            return
        cursor.execute(f"SELECT DISTINCT app FROM {TABLE}")
        apps = {app for (app,) in cursor.fetchall()}
    if not apps >= APPS:
        raise CommandError(
            f"The database {connection.settings_dict['NAME']} is no hub's: it holds the tables of another "
            "program made with Django. Is DATABASE_URL right? Give the hub a database of its own."
        )


def _file() -> Path:
    return Path(connection.settings_dict["NAME"])


# -- Making and marking it -------------------------------------------------------------------------


def make_database(*, fills_empty: bool) -> None:
    """Make the SQLite file if it is missing, and make it private."""
    if connection.vendor != "sqlite":
        return
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        make_file(file, fills_empty=fills_empty)
        close_to_others(file)
    except OSError as error:
        raise CommandError(
            f"{file} cannot be made: {error.strerror}. DATABASE_URL or CTXHUB_VAR_DIR says where."
        ) from error


def mark_database() -> None:
    """Mark the database as a hub's, so that an interrupted setup can be repeated; older ones have no mark."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA application_id")
            if cursor.fetchone() != (APPLICATION_ID,):
                cursor.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            return
        with transaction.atomic():  # Without the mark another setup would take it for another program's.
            MigrationRecorder(connection).ensure_schema()
            cursor.execute("SELECT obj_description(%s::regclass)", [TABLE])
            if cursor.fetchone() != (MARK,):
                cursor.execute(f"COMMENT ON TABLE {TABLE} IS '{MARK}'")


# -- One at a time, and without others -------------------------------------------------------------


@contextmanager
def alone(say: Callable[[str], object]) -> Iterator[None]:
    """Let one setup or migrate of the hub work at a time: others wait, those that this one calls do not."""
    if _at_work.get() is not None:
        yield
        return
    with _turn(say) as backend:
        at_work = _at_work.set(backend)
        try:
            yield
        finally:
            _at_work.reset(at_work)


@contextmanager
def _turn(say: Callable[[str], object]) -> Iterator[int]:
    """Yields PostgreSQL's process of the connection that has the lock; on SQLite any number."""
    started, is_told = time.monotonic(), False
    is_on_server = connection.vendor == "postgresql"
    with _server_lock() if is_on_server else nullcontext(partial(try_lock, _file())) as lock:
        while True:
            with lock() as is_mine:
                if is_mine:
                    yield int(is_mine)
                    return
            if time.monotonic() - started > SECONDS_TO_WAIT:
                raise CommandError(
                    "Another setup, migrate or restore of this hub has been at work for 10 minutes."
                )
            if not is_told:
                say("Another setup, migrate or restore of this hub is at work: waiting for it.")
                is_told = True
            time.sleep(SECONDS_BETWEEN_TRIES)


@contextmanager
def _server_lock() -> Iterator[Callable[[], AbstractContextManager[int]]]:
    """A lock on a connection of its own: those of the migrations begin and end transactions."""
    import psycopg

    with psycopg.connect(**connection.get_connection_params()) as own:

        @contextmanager
        def try_server_lock() -> Iterator[int]:
            with own.transaction():
                own.execute("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
                found = own.execute("SELECT pg_try_advisory_xact_lock(%s, 0)", [_LOCK_CLASS]).fetchone()
                yield own.info.backend_pid if found and found[0] else 0

        yield try_server_lock


def own_backends() -> list[int]:
    """PostgreSQL's processes of the connections that this process has for its turn."""
    return [backend] if (backend := _at_work.get()) else []


def refuse_beside_others(*, ask: Ask) -> None:
    """Raise CommandError if a hub that is there would be migrated while other processes have it open."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan or not executor.loader.applied_migrations:
        return
    holders = find_holders(own_backend=_at_work.get() or 0)
    if holders and not ask(f"{_told(holders)} Migrate beside them?"):
        raise CommandError(
            f"{_told(holders)} Stop them first, then run this again: an older version could write what this "
            "one cannot read. With --beside-others it migrates nevertheless."
        )


def _told(holders: Sequence[str]) -> str:
    return f"The database is to be migrated, and others have it open: {'; '.join(holders)}."


SECONDS_BETWEEN_TRIES = 0.2
_LOCK_CLASS = 0x63_74_79  # Beside that of the writers.
_at_work: ContextVar[int | None] = ContextVar("at_work", default=None)
