"""Makes ids the same in every run and on both engines.

Earlier tests use up ids, and a statement that finds an existing row, or a
transaction that is rolled back, uses up an id on one engine but not on the other.
"""

from collections.abc import Sequence

from django.apps import apps
from django.db import connection
from django.db.models import AutoField

from ctxhub.core.kit import sql


class Ids:
    """`align` makes the next row of each table follow the highest id that the table ever had."""

    def __init__(self) -> None:
        self._highest: dict[str, int] = dict.fromkeys(_numbered_tables(), 0)

    def align(self) -> None:
        # By a prepared statement: planning it took PostgreSQL 2 ms, a thousand times.
        highest_now = " UNION ALL ".join(
            f"SELECT '{table}', COALESCE(MAX(id), 0) FROM {table}" for table in self._highest
        )
        for table, highest in sql.rows(highest_now):
            self._highest[table] = max(self._highest[table], highest)
        _set_sequences(list(self._highest.items()))


def _numbered_tables() -> list[str]:
    numbered = [model for model in apps.get_models(include_auto_created=True) if _is_numbered(model)]
    return sorted({model._meta.db_table for model in numbered} - {"django_migrations"})


def _is_numbered(model: type) -> bool:
    return isinstance(model._meta.pk, AutoField)  # type: ignore[attr-defined]


def _set_sequences(highest: Sequence[tuple[str, int]]) -> None:
    if connection.vendor == "postgresql":
        sql.execute(
            "SELECT setval(pg_get_serial_sequence(t, 'id'), greatest(n, 1), n > 0)"
            " FROM unnest(%s::text[], %s::bigint[]) AS asked(t, n)",
            [[table for table, _ in highest], [n for _, n in highest]],
        )
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, seq FROM sqlite_sequence")
        stored = dict(cursor.fetchall())
        other = [(table, n) for table, n in highest if stored.get(table) != n]
        cursor.executemany("DELETE FROM sqlite_sequence WHERE name = %s", [(table,) for table, _ in other])
        cursor.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", other)
