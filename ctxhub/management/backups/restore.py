"""What the restores of both engines have in common: what is asked for, what was done, what is noted."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import CommandError

from ctxhub.core.kit import clock
from ctxhub.core.kit.newer_schema import find_lacking_migrations
from ctxhub.management.backups.archive import Archive
from ctxhub.management.lifting_ids import Lifted


@dataclass(frozen=True, slots=True)
class Restore:
    """`key`: the secret key to put in place, "" if the one there stays."""

    archive: Archive
    id: str
    replaces: bool
    key: str
    say: Callable[[str], object]

    def refuse_filled(self, where: object, *, is_empty: bool) -> None:
        if not is_empty and not self.replaces:
            raise CommandError(
                f"{where} holds a hub already: nothing was changed. Back it up, then say --replace, and the "
                "backup takes its place."
            )

    def details(self) -> str:
        """The record of the restore, by which processes that run learn of it: `core/kit/restored.py`."""
        manifest = self.archive.manifest
        record = {
            "restore": self.id,
            "key": manifest.key,
            "file": str(self.archive.path),
            "backup_at": clock.format_time(manifest.created_at),
        }
        return json.dumps(record)


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done. `aside`: where the replaced SQLite file lies; None if there was none.

    `migrated`: how many migrations the backup lacked.
    """

    restore: Restore
    lifted: Lifted
    migrated: int
    aside: Path | None = None


def migrate() -> int:
    """Bring the tables up to this version; returns how many migrations were lacking."""
    lacking = find_lacking_migrations()
    if lacking:
        call_command("migrate", verbosity=0, interactive=False, beside_others=True)
    return len(lacking)
