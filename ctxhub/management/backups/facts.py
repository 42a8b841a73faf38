"""What a database holds, as a manifest tells it and as a restore compares it: rows by table, migrations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxhub.management.backups.manifest import BadBackup, Manifest
from ctxhub.management.backups.tables import of_hub

Query = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a statement and returns its rows."""


@dataclass(frozen=True, slots=True)
class Facts:
    tables: Mapping[str, int]
    migrations: tuple[str, ...]


def gather(query: Query, list_tables: str) -> Facts:
    """`list_tables` is a statement whose rows are the names of all tables."""
    names = of_hub(name for (name,) in query(list_tables))
    tables = {name: int(query(f'SELECT count(*) FROM "{name}"')[0][0]) for name in names}
    applied = query("SELECT app, name FROM django_migrations") if "django_migrations" in tables else []
    return Facts(tables, tuple(sorted(f"{app}.{name}" for app, name in applied)))


def compare(found: Facts, manifest: Manifest) -> None:
    """Raises BadBackup if the database is not what the manifest says of it."""
    if found.migrations != manifest.migrations:
        raise BadBackup("its database has other migrations than its manifest says")
    for name in sorted({*found.tables, *manifest.tables}):
        rows, expected = found.tables.get(name), manifest.tables.get(name)
        if rows != expected:
            raise BadBackup(f"its database has {rows} rows in {name}, and its manifest says {expected}")
