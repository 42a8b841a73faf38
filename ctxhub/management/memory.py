"""Keeps the memory of commands flat that read a whole database."""

from django.db import connection


def map_no_file() -> None:
    """Read the SQLite file in pages: mapped, all that was read of it counts as memory of the process."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA mmap_size=0")
