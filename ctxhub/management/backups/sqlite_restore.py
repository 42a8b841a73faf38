"""Restores a backup of SQLite: everything is made ready in a file of its own, which then takes the place."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, transaction

from ctxhub.core.kit import clock
from ctxhub.core.kit.hub_files import open_hub
from ctxhub.core.kit.private_files import put_new, sync_file
from ctxhub.core.kit.replacement import LOGS, Plan, forget_plan, put_key, replace
from ctxhub.core.kit.write_queue import QUEUE
from ctxhub.management.backups.archive import Archive, unpack
from ctxhub.management.backups.facts import compare
from ctxhub.management.backups.manifest import DATABASES
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.backups.restore import Restore, Restored, migrate
from ctxhub.management.backups.sqlite_copy import check_copy, facts_of
from ctxhub.management.backups.work_folder import work_folder
from ctxhub.management.lifting_ids import Ids, Lifted, given_ids, lift_file

_NOTE = """INSERT INTO core_hubrecord (kind, at, details) VALUES ('restore', ?, ?)
    ON CONFLICT (kind) DO UPDATE SET at = excluded.at, details = excluded.details"""


def restore(job: Restore, database: Path) -> Restored:
    """Raises BadBackup, CommandError, DatabaseError and OSError."""
    job.refuse_filled(database, is_empty=not database.exists() or _is_empty())
    _refuse_left_log(database)
    database.parent.mkdir(parents=True, exist_ok=True)
    with work_folder(database.parent) as work:
        forget_plan(database)
        staged = work / "restored.sqlite3"
        job.say("Reading and checking the backup.")
        restore_copy(job.archive, staged)
        with connected_to({"NAME": str(staged)}):
            migrated = migrate()
        _note(job, staged)
        if database.exists():
            lifted, aside = _replace(job, staged, database)
        else:
            lifted, aside = _put(job, staged, database), None
    return Restored(job, lifted, migrated, aside)


def restore_copy(archive: Archive, target: Path) -> None:
    """Make the database of a backup in a new file, and check it. Raises BadBackup."""
    packed = target.with_name(f"{target.name}.packed")
    member = archive.manifest.members[DATABASES["sqlite"]]
    try:
        archive.copy(DATABASES["sqlite"], packed)
        unpack(packed, target, expected_bytes=member.unpacked_bytes)
    finally:
        packed.unlink(missing_ok=True)
    check_copy(target)
    compare(facts_of(target), archive.manifest)


def _is_empty() -> bool:
    """Whether the hub's file has nobody's data: no tables, or neither projects nor people."""
    open_hub(Path(connection.settings_dict["NAME"]))
    try:
        tables = set(connection.introspection.table_names())
        with connection.cursor() as cursor:
            for table in tables & {"core_project", "auth_user"}:
                cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {table})")
                if cursor.fetchone()[0]:
                    return False
    except DatabaseError as error:
        if not _is_damaged(error):
            raise
        return False
    return True


def _is_damaged(error: DatabaseError) -> bool:
    """Whether the database is what a backup is restored for: it cannot be read any more."""
    code = getattr(error.__cause__, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _refuse_left_log(database: Path) -> None:
    """The log of a database that is gone would be applied to the restored one."""
    logs = [f"{database}{end}" for end in LOGS if os.path.lexists(f"{database}{end}")]
    if logs and not database.exists():
        raise CommandError(f"{' and '.join(logs)} lie there without their database: move them away first.")


def _note(job: Restore, staged: Path) -> None:
    """Leaves a whole file without a log beside it."""
    at = clock.now().astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    with closing(sqlite3.connect(staged)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        with file:
            file.execute(_NOTE, [at, job.details()])
    sync_file(staged)


def _replace(job: Restore, staged: Path, database: Path) -> tuple[Lifted, Path]:
    """Others wait from the moment the ids are read until the new file is there."""
    stamp = f"{clock.now():%Y-%m-%dT%H%M%SZ}-{job.id[:8]}"
    key_file = Path(settings.KEY_FILE)
    aside = Path(f"{database}.replaced-{stamp}")
    plan = Plan(
        new=str(staged),
        aside=str(aside),
        key=job.key,
        key_file=str(key_file),
        key_aside=f"{key_file}.replaced-{stamp}",
    )
    with QUEUE, _locked() as can_be_read:
        given = given_ids() if can_be_read else None
        is_same = can_be_read and _hub() == job.archive.manifest.hub
        lifted = _lift(staged, given, are_all=is_same)
        replace(database, plan)
    connection.close()  # It stays open, as the file is another one now: closing would remove that one's log.
    return lifted, aside


@contextmanager
def _locked() -> Iterator[bool]:
    """Let nobody write to the database; False if nobody can, as it is damaged."""
    with ExitStack() as whole:
        try:
            whole.enter_context(transaction.atomic())
            given_ids()
        except DatabaseError as error:
            if not _is_damaged(error):
                raise
            connection.close()
            yield False
            return
        yield True


def _put(job: Restore, staged: Path, database: Path) -> Lifted:
    """Where there was no database: the key goes first, as it belongs to none yet."""
    lifted = _lift(staged, None, are_all=False)
    key_file = Path(settings.KEY_FILE)
    if job.key:
        key_file.parent.mkdir(parents=True, exist_ok=True)
        put_key(key_file, job.key, aside=key_file.with_name(f"{key_file.name}.replaced-{job.id[:8]}"))
    try:
        put_new(staged, database)
    except FileExistsError as error:
        raise CommandError(f"{database} was made meanwhile, by a setup: nothing was restored.") from error
    connection.close()
    return lifted


def _lift(staged: Path, given: Ids | None, *, are_all: bool) -> Lifted:
    lifted = lift_file(staged, given, are_all=are_all)
    sync_file(staged)
    return lifted


def _hub() -> str:
    """The id of the hub that is replaced, "" if it has none yet."""
    with connection.cursor() as cursor:
        if "core_hubrecord" not in connection.introspection.table_names(cursor):
            return ""
        cursor.execute("SELECT json_extract(details, '$.id') FROM core_hubrecord WHERE kind = 'hub'")
        found = cursor.fetchone()
    return str(found[0]) if found else ""
