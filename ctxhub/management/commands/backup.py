from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.management.backups.backing_up import back_up
from ctxhub.management.backups.folders import remove_superseded
from ctxhub.management.backups.keeping import EXAMPLE, BadRule, Part, read_rule
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated


class Command(BaseCommand):
    help = "Back up the database and the secret key into one file, while the hub runs."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=_path, help="A new file, or a folder: there it gets a dated name.")
        parser.add_argument(
            "--keep",
            metavar="RULE",
            help="Then remove dated backups of this hub from the folder, but the newest of each of so many "
            f"days, weeks, months, years: {EXAMPLE}.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path, rule = options["path"], _rule(options)
        with as_command_errors():
            refuse_unmigrated()
            done = back_up(path)
            self.stdout.write(
                f"{done.path}: {done.manifest.rows:,} rows in {len(done.manifest.tables)} tables, "
                f"{done.bytes:,} bytes."
            )
            if done.manifest.fallback_keys:
                self.stdout.write("Keep CTXHUB_SECRET_KEY_FALLBACKS yourself: only the secret key is in it.")
            if not done.is_noted:
                self.stderr.write("Note: the hub cannot write, and does not remember this backup.")
            if rule:
                removed = remove_superseded(path, rule, hub=done.manifest.hub)
                self.stdout.write(
                    f"Removed {len(removed)} older: {', '.join(each.name for each in removed)}."
                    if removed
                    else "Removed none."
                )


def _path(text: str) -> Path:
    path = Path(text)
    if text.endswith("/") and not path.is_dir():
        raise CommandError(f"There is no folder {text} Make it first: mkdir -m 700 {text}")
    return path


def _rule(options: dict[str, Any]) -> list[Part]:
    if options["keep"] is None:
        return []
    if not options["path"].is_dir():
        raise CommandError(f"--keep is for a folder of backups, and {options['path']} is none.")
    try:
        return [*read_rule(options["keep"])]
    except BadRule as error:
        raise CommandError(str(error)) from error
