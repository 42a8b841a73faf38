"""Helpers for tests that end connections, roll back, collect statistics or make the database unavailable."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.contrib.contenttypes.models import ContentType
from django.db import connection, connections, transaction
from psycopg import sql

from ctxhub.core.kit.sqlite_file import make_file
from ctxhub.mcp import call_threads
from tests.emptying import hub_tables
from tests.migrated import copy_on_server, drop_on_server
from tests.timing import PATIENCE_SECONDS, server_cpu_seconds, slowness


def end_other_connections() -> None:
    """Terminate all other connections, as a restart of PostgreSQL does; nothing to do on SQLite."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@contextmanager
def rolled_back() -> Iterator[None]:
    """Roll back the writes of the block."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def take_statistics() -> None:
    """Collect statistics of the tables as they are now; query plans do not know later writes."""
    of_hub = ", ".join(hub_tables()) if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {of_hub}")


@contextmanager
def statements_within_cpu_seconds(limit: float) -> Iterator[None]:
    """Limit the processor time that PostgreSQL needs for the statements of a block in a test.

    Statistics are collected afterwards: with plans for empty tables the check of foreign keys would take a
    minute.
    """
    began = server_cpu_seconds()
    yield
    if connection.vendor == "postgresql":
        took = server_cpu_seconds() - began
        take_statistics()
        limit *= slowness() if took >= limit else 1
        assert took < limit, f"{took:.2f} s of processor time, the limit is {limit} s"


@contextmanager
def new_database() -> Iterator[None]:
    """This thread is connected to an empty database, which is removed at the end."""
    settings = connection.settings_dict
    name = f"{settings['NAME']}_new"
    connection.close()
    if connection.vendor == "postgresql":
        copy_on_server("template0", name)
    else:
        make_file(Path(name))
    connection.settings_dict = {**settings, "NAME": name}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = settings
        ContentType.objects.clear_cache()
        if connection.vendor == "postgresql":
            drop_on_server(name)
        else:
            Path(name).unlink()


@contextmanager
def database_away() -> Iterator[None]:
    """No new connections: PostgreSQL admits none, SQLite's file is missing. This thread stays connected."""
    with _closed_postgres() if connection.vendor == "postgresql" else _missing_sqlite():
        yield


@contextmanager
def _closed_postgres() -> Iterator[None]:
    params = connection.get_connection_params()
    login = {name: params[name] for name in ("host", "port", "user", "password") if name in params}
    database, own = connection.settings_dict["NAME"], connection.connection
    admit = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with psycopg.connect(**login, dbname="postgres", autocommit=True) as server:
        try:
            server.execute(admit.format(sql.Identifier(database), sql.SQL("false")))
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
                [database, own.info.backend_pid if own else 0],
            )
            yield
        finally:
            server.execute(admit.format(sql.Identifier(database), sql.SQL("true")))


@contextmanager
def _missing_sqlite() -> Iterator[None]:
    file = Path(connection.settings_dict["NAME"])
    disconnect_db_threads()
    aside = file.rename(file.with_suffix(".aside"))
    file.mkdir()
    try:
        yield
    finally:
        file.rmdir()
        aside.rename(file)


def disconnect_db_threads() -> None:
    """On SQLite each thread that runs calls has to close its own connection."""
    threads = call_threads.threads
    with threads._lock:
        idle, threads._idle = threads._idle, []
        closing: list[Future[None]] = [Future() for _ in idle]
        for thread, closed in zip(idle, closing, strict=True):
            thread.put((None, call_threads._Work(connections.close_all, closed)))
    for closed in closing:
        closed.result(PATIENCE_SECONDS)
