"""Restores a backup: into the hub's own database, or into another one for a drill."""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from ctxhub.core.kit.newer_schema import RETIRED, is_too_old
from ctxhub.management.backups import postgresql_restore, sqlite_restore
from ctxhub.management.backups.archive import Archive, open_archive
from ctxhub.management.backups.keys import key_to_put
from ctxhub.management.backups.manifest import BadBackup
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.backups.restore import Restore, Restored
from ctxhub.management.database import alone
from ctxhub.management.refusals import TWO_STEPS, refuse_unreachable


def restore(path: Path, *, replaces: bool, say: Callable[[str], object]) -> Restored:
    """Put a backup in the place of the hub's database and secret key, while others may have it open.

    Whenever the process is killed, all is as before or all is restored. `replaces`: the database may hold
    something. `say` is told what takes time. Raises CommandError, DatabaseError and OSError.
    """
    archive = open_backup(path)
    with _as_command_error(path):
        job = Restore(archive, _new_id(), replaces=replaces, key=key_to_put(archive), say=say)
        _refuse_as_another_user(Path(settings.KEY_FILE))
        if connection.vendor == "sqlite":
            database = Path(connection.settings_dict["NAME"])
            _refuse_as_another_user(database)
            with alone(say) if database.exists() else nullcontext():
                return sqlite_restore.restore(job, database)
        refuse_unreachable()
        with alone(say):
            return postgresql_restore.restore(job)


def restore_into(archive: Archive, database: Mapping[str, Any]) -> None:
    """Restore only the rows into another database, which is empty; on SQLite a file that is not there.

    `database` has the settings that differ from the hub's, such as NAME. Raises CommandError.
    """
    with _as_command_error(archive.path), connected_to(database):
        if connection.vendor == "sqlite":
            sqlite_restore.restore_copy(archive, Path(connection.settings_dict["NAME"]))
        else:
            postgresql_restore.restore_copy(archive)


def open_backup(path: Path) -> Archive:
    """Raises CommandError for what cannot be restored here: no backup, torn, newer, another engine's."""
    with _as_command_error(path):
        try:
            archive = open_archive(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    manifest = archive.manifest
    if manifest.engine != connection.vendor:
        raise CommandError(
            f"{path} is a backup of {manifest.engine}, and this hub is on {connection.vendor}. Restore it on "
            f"a hub with a DATABASE_URL of {manifest.engine}; `export` and `import` carry projects across."
        )
    if unknown := _unknown(manifest.migrations):
        raise CommandError(
            f"{path} is of a newer version of ctxhub ({manifest.version}): this one does not know "
            f"{', '.join(unknown[:3])}. Update the code (git pull), then restore."
        )
    if is_too_old([(app, name) for app, _, name in (each.partition(".") for each in manifest.migrations)]):
        raise CommandError(
            f"{path} is of a version of ctxhub that this one cannot upgrade: restore it by an older one. "
            f"{TWO_STEPS}"
        )
    return archive


def _refuse_as_another_user(file: Path) -> None:
    """Raise CommandError where the restored file would be one that the hub cannot read."""
    if not hasattr(os, "geteuid"):  # Windows has no such users.
        return
    for existing in (file, file.parent):
        owner = existing.stat().st_uid if existing.exists() else os.geteuid()
        # A folder may be shared by a group; root may write everywhere.
        if owner != os.geteuid() and (existing == file or not os.geteuid()):
            raise CommandError(
                f"{existing} belongs to user {owner}: run this as that user (sudo -u). Nothing was changed."
            )


def _unknown(migrations: tuple[str, ...]) -> list[str]:
    """Those of the apps that are installed which this code does not have."""
    loader = MigrationLoader(None)
    known = {*loader.disk_migrations, *RETIRED}
    names = {f"{app}.{name}" for app, name in known}
    return [each for each in migrations if each not in names and _app(each) in loader.migrated_apps]


def _app(migration: str) -> str:
    return migration.partition(".")[0]


def _new_id() -> str:
    return str(uuid.uuid4())


@contextmanager
def _as_command_error(path: Path) -> Iterator[None]:
    try:
        yield
    except BadBackup as error:
        raise CommandError(f"{path} cannot be restored: {error}. Nothing was changed.") from error
