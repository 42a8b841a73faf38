"""Empties the database behind a test that committed: the tables that hold rows, and no others.

Django's `flush` truncates every table and writes all permissions anew: 240 ms on PostgreSQL; this takes 6.
"""

from functools import cache

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

# What `migrate` fills is the same for every test.
KEPT = ("django_migrations", "django_content_type", "auth_permission")
BYTES_WORTH_A_VACUUM = 256 * 1024


def empty_database() -> None:
    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        filled = _filled_tables(cursor)
        if connection.vendor == "postgresql":
            # Else it would look for what refers to each row.
            cursor.execute("SET LOCAL session_replication_role = replica")
        for table in filled:
            cursor.execute(f"DELETE FROM {table}")
    if connection.vendor == "postgresql":
        _vacuum(filled)


def _filled_tables(cursor: CursorWrapper) -> list[str]:
    cursor.execute(" UNION ALL ".join(f"SELECT '{t}' WHERE EXISTS (SELECT 1 FROM {t})" for t in _tables()))
    return [table for (table,) in cursor.fetchall()]


@cache
def _tables() -> list[str]:
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return sorted(set(names) - set(KEPT))


def vacuum() -> None:
    """What tests rolled back lies in PostgreSQL's tables all the same, and searches came to take minutes.

    And what was counted in them, even by a test that was rolled back, chooses plans for what there is now: a
    table that was empty is taken for one of no rows, however many there are.
    """
    if connection.vendor == "postgresql":
        _vacuum(_tables())
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE pg_class SET reltuples = -1, relpages = 0"
                " WHERE relnamespace = 'public'::regnamespace AND reltuples >= 0"
            )


def _vacuum(tables: list[str]) -> None:
    """There is no autovacuum, so that plans depend on no chance."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM unnest(%s::text[]) AS name WHERE pg_table_size(name::regclass) > %s",
            [tables, BYTES_WORTH_A_VACUUM],
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"VACUUM {table}")
