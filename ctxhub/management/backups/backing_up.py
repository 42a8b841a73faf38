"""Makes a backup of the hub, while it runs."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from ctxhub import __version__
from ctxhub.core.kit import clock
from ctxhub.core.kit.failures import is_unwritable
from ctxhub.core.kit.private_files import put_new
from ctxhub.core.kit.restored import key_mark
from ctxhub.core.records.models import HubRecord
from ctxhub.core.records.services import hub_id, note
from ctxhub.management.backups import postgresql_dump, sqlite_copy
from ctxhub.management.backups.archive import describe, pack, private_file, write_archive
from ctxhub.management.backups.facts import Facts
from ctxhub.management.backups.folders import dated_name
from ctxhub.management.backups.manifest import DATABASES, KEY, Manifest
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.backups.postgresql_programs import server_version
from ctxhub.management.backups.work_folder import work_folder
from ctxhub.management.refusals import DISK_FULL

Look = Callable[[], None]


@dataclass(frozen=True, slots=True)
class BackedUp:
    """`is_noted`: whether the hub could note it for its page."""

    path: Path
    manifest: Manifest
    bytes: int
    is_noted: bool


def back_up(path: Path) -> BackedUp:
    """Make a backup in a new file, or under a dated name in a folder that is there, and note it.

    The file gets its name when it is whole and on the disk. Raises CommandError, DatabaseError and OSError.
    """
    done = make_backup(path)
    return replace(done, is_noted=_is_noted(done))


def make_backup(path: Path, look: Look | None = None) -> BackedUp:
    """As `back_up`, but nothing is noted.

    `look` is called while this thread is connected to the very state that is backed up, which it only reads.
    """
    at = clock.now()
    path = Path(os.path.abspath(path))
    target = path / dated_name(at) if path.is_dir() else path
    _refuse_place(target)
    hub = _hub_id()
    with _told_full(target.parent), work_folder(target.parent) as work:
        files = {KEY: work / KEY, DATABASES[connection.vendor]: work / "database"}
        facts, unpacked, schema = _copy_database(work, files[DATABASES[connection.vendor]], look)
        with private_file(files[KEY]) as key:
            key.write(str(settings.SECRET_KEY).encode())
        manifest = Manifest(
            version=__version__,
            engine=connection.vendor,
            hub=hub,
            created_at=at,
            key=key_mark(str(settings.SECRET_KEY)),
            fallback_keys=len(settings.SECRET_KEY_FALLBACKS),
            migrations=facts.migrations,
            tables=facts.tables,
            members={
                KEY: describe(files[KEY]),
                DATABASES[connection.vendor]: describe(
                    files[DATABASES[connection.vendor]], unpacked_bytes=unpacked
                ),
            },
            server=str(server_version()) if schema else "",
            schema=schema,
        )
        draft = work / "archive"
        with private_file(draft):
            pass
        write_archive(draft, manifest, files)
        size = draft.stat().st_size
        try:
            put_new(draft, target)
        except FileExistsError as error:
            raise _is_there(target) from error
    return BackedUp(target, manifest, size, is_noted=False)


def _hub_id() -> str:
    """The id of the hub; "" if none was made while it could write."""
    try:
        return hub_id()
    except DatabaseError:
        return ""


@contextmanager
def _told_full(folder: Path) -> Iterator[None]:
    """Name the folder whose disk is full, whoever has written there."""
    try:
        yield
    except (OSError, DatabaseError) as error:
        if not is_unwritable(error) and getattr(error, "errno", None) not in DISK_FULL:
            raise
        raise CommandError(f"No backup was made: the disk of {folder} is full or read-only.") from error


def _copy_database(work: Path, packed: Path, look: Look | None) -> tuple[Facts, int | None, str]:
    """What the copy holds, its size before it was compressed (None: it was not), and its schema."""
    if connection.vendor == "postgresql":
        facts, schema = postgresql_dump.dump(packed, look)
        return facts, None, schema
    copy = work / "copy"
    sqlite_copy.copy_database(copy)
    facts, size = sqlite_copy.facts_of(copy), copy.stat().st_size
    pack(copy, packed)
    if look:
        with connected_to({"NAME": str(copy)}):
            look()
    copy.unlink()
    return facts, size, ""


def _refuse_place(target: Path) -> None:
    """Raise CommandError before anything is done."""
    if os.path.lexists(target):
        raise _is_there(target)
    if not target.parent.is_dir():
        raise CommandError(f"There is no folder {target.parent}. Make it first: mkdir -m 700 {target.parent}")
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise CommandError(f"Nothing can be written in {target.parent}: {error.strerror}.") from error


def _is_there(target: Path) -> CommandError:
    return CommandError(f"{target} is there already: a backup never replaces a file. Give another name.")


def _is_noted(done: BackedUp) -> bool:
    """Note the backup. One of a database that only reads is none the worse."""
    details = {"file": str(done.path), "bytes": done.bytes, "rows": done.manifest.rows}
    try:
        note(HubRecord.Kind.BACKUP, details, at=done.manifest.created_at)
    except DatabaseError:
        return False
    return True
