"""The number of rows and a checksum of each table of the database that this thread is connected to."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import quote

from django.db import connection

from ctxhub.management.backups.postgresql_dump import TABLES as ON_POSTGRESQL
from ctxhub.management.backups.sqlite_copy import TABLES as ON_SQLITE
from ctxhub.management.backups.tables import of_hub

_DIGEST_BYTES = 8


class Sum(NamedTuple):
    """`checksum`: of the rows in any order."""

    rows: int
    checksum: int


Sums = Mapping[str, Sum]
"""By table."""


def sums_of_tables() -> Sums:
    return _in_file() if connection.vendor == "sqlite" else _on_server()


def differences(before: Sums, after: Sums) -> Iterator[str]:
    """A sentence for each table that is not as it was."""
    for table in sorted({*before, *after}):
        was, now = before.get(table), after.get(table)
        if was is None or now is None:
            yield f"The table {table} is {'missing after' if now is None else 'new after'} the restore."
        elif was.rows != now.rows:
            yield f"{table} has {now.rows:,} rows after the restore, and {was.rows:,} were backed up."
        elif was.checksum != now.checksum:
            yield f"Rows of {table} are not what was backed up: their checksums differ."


def _on_server() -> Sums:
    with connection.cursor() as cursor:
        cursor.execute(ON_POSTGRESQL)
        names = of_hub(name for (name,) in cursor.fetchall())
        found = {}
        for name in names:
            cursor.execute(
                f"""SELECT count(*), coalesce(sum(hashtextextended((r.*)::text, 0)::numeric), 0)
                FROM "{name}" r"""
            )
            rows, checksum = cursor.fetchone()
            found[name] = Sum(rows, int(checksum))
    return found


def _in_file() -> Sums:
    """Read as it is stored, without Django's conversions."""
    uri = f"file:{quote(str(connection.settings_dict['NAME']))}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        file.text_factory = _text
        names = of_hub(name for (name,) in file.execute(ON_SQLITE))
        return {name: _sum(file.execute(f'SELECT * FROM "{name}"')) for name in names}


def _sum(rows: Iterator[Sequence[Any]]) -> Sum:
    count, checksum = 0, 0
    for row in rows:
        digest = hashlib.blake2b(repr(row).encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES)
        checksum += int.from_bytes(digest.digest(), "big")
        count += 1
    return Sum(count, checksum)


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")
