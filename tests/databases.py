"""What tests do to the database beside using it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.db import connection, connections, transaction
from psycopg import sql

from ctxhub.mcp import db_threads as bridge


def end_other_connections() -> None:
    """As a restart of PostgreSQL does; SQLite has nobody to end."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@contextmanager
def rolled_back() -> Iterator[None]:
    """What is done within is undone; the test goes on with what there was."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def take_statistics() -> None:
    """Of the tables as they are now: what is written afterwards, plans know nothing of."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@contextmanager
def every_statement_within(seconds: int) -> Iterator[None]:
    """Of PostgreSQL, in a test's transaction.

    Behind it foreign keys are checked, which would take a minute by plans for tables that were empty.
    """
    if connection.vendor == "postgresql":
        _limit_statements(seconds)
        yield
        _limit_statements(60)
        take_statistics()
    else:
        yield


def _limit_statements(seconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{seconds}s'")


@contextmanager
def database_away() -> Iterator[None]:
    """Nobody gets in: PostgreSQL admits none, SQLite's file cannot be opened. This thread stays connected."""
    with _closed_postgres() if connection.vendor == "postgresql" else _missing_sqlite():
        yield


@contextmanager
def _closed_postgres() -> Iterator[None]:
    said = connection.get_connection_params()
    login = {name: said[name] for name in ("host", "port", "user", "password") if name in said}
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
    _disconnect_bridge()
    aside = file.rename(file.with_suffix(".aside"))
    file.mkdir()
    try:
        yield
    finally:
        file.rmdir()
        aside.rename(file)


def _disconnect_bridge() -> None:
    """SQLite has nobody else who could: each thread that serves MCP closes its own connection."""
    all_here = threading.Barrier(bridge.THREADS)

    def close() -> None:
        all_here.wait(timeout=10)
        connections.close_all()

    for closing in [bridge._pool.submit(close) for _ in range(bridge.THREADS)]:
        closing.result(timeout=20)
