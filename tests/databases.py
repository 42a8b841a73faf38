"""What tests do to the database beside using it."""

from django.db import connection


def end_other_connections() -> None:
    """As a restart of PostgreSQL does; SQLite has nobody to end."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
