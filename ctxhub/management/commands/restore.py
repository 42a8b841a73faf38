from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.core.kit import clock
from ctxhub.management.backups.restore import Restored
from ctxhub.management.backups.restoring import restore
from ctxhub.management.refusals import as_command_errors


class Command(BaseCommand):
    help = "Put a backup in the place of the database and the secret key, all of it or nothing."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="The file that `backup` has made.")
        parser.add_argument(
            "--replace", action="store_true", help="Also if the database holds something, which is replaced."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with as_command_errors():
            done = restore(options["path"], replaces=options["replace"], say=self.stdout.write)
            self.stdout.write("\n".join(_told(done)))
            try:
                call_command("reindex", check=True, stdout=self.stdout)
            except CommandError as error:
                raise CommandError(f"The backup is restored, but not right: {error}") from error


def _told(done: Restored) -> list[str]:
    manifest = done.restore.archive.manifest
    lines = [
        f"Restored {manifest.rows:,} rows of {clock.format_time(manifest.created_at)}; "
        f"lifted {done.lifted.lifted} of {done.lifted.of} id sequences."
    ]
    if done.migrated:
        lines.append(f"Applied {done.migrated} migration(s) that it lacked.")
    if done.restore.key:
        lines.append("Put its secret key in place: restart what runs on this hub.")
    if manifest.fallback_keys:
        lines.append(
            "The hub had CTXHUB_SECRET_KEY_FALLBACKS: set them as they were, for tokens made before."
        )
    if done.aside:
        lines.append(f"The replaced database is {done.aside}: remove it once you need it no more.")
    return lines
