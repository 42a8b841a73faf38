"""Empties the database after a test that committed: only tables that have rows.

Django's `flush` truncates every table and recreates all permissions: 240 ms on PostgreSQL; this takes 6.
"""

from functools import cache

from django.db import OperationalError, connection, transaction

from ctxhub.core.kit import sql

# Tables that `migrate` fills are the same for every test.
KEPT = ("django_migrations", "django_content_type", "auth_permission")
BYTES_WORTH_A_VACUUM = 256 * 1024


def empty_database() -> None:
    """Once more after a deadlock: a hub of its own process writes some things a second after its answer."""
    try:
        _delete_all()
    except OperationalError as error:
        if "deadlock" not in str(error):
            raise
        _delete_all()


def _delete_all() -> None:
    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        filled = filled_tables()
        if connection.vendor == "postgresql":
            # Skips the check for rows that refer to the deleted ones.
            cursor.execute("SET LOCAL session_replication_role = replica")
        for table in filled:
            cursor.execute(f"DELETE FROM {table}")
    if connection.vendor == "postgresql":
        _vacuum(filled)


def filled_tables() -> list[str]:
    found = (f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in hub_tables())
    return [table for (table,) in sql.rows(" UNION ALL ".join(found))]


@cache
def hub_tables() -> list[str]:
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return sorted(set(names) - set(KEPT))


def vacuum() -> None:
    """Remove dead rows: rolled back rows stay in PostgreSQL's tables, and searches came to take minutes.

    Statistics are reset, too: those of a rolled back test stay and choose the plans of later ones, and a
    table that was empty is planned as a table without rows, however many there are.
    """
    if connection.vendor == "postgresql":
        _vacuum(hub_tables())
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE pg_class SET reltuples = -1, relpages = 0"
                " WHERE relnamespace = 'public'::regnamespace AND reltuples >= 0"
            )


def _vacuum(tables: list[str]) -> None:
    """Autovacuum is off, so that plans do not depend on chance."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM unnest(%s::text[]) AS name WHERE pg_table_size(name::regclass) > %s",
            [tables, BYTES_WORTH_A_VACUUM],
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"VACUUM {table}")
