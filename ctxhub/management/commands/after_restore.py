from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from ctxhub.management.lifting_ids import MARGIN, Lifted, lift_ids
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated


class Command(BaseCommand):
    help = "After a backup was put back: let no id, fence or cursor of the replaced database be given again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--replaced",
            type=Path,
            metavar="OLDFILE",
            help="The SQLite file that was replaced, its -wal beside it. Without it ids go on by 1,000,000.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        replaced = options["replaced"]
        if replaced is not None and connection.vendor != "sqlite":
            raise CommandError(
                "--replaced names a file of SQLite, and this hub is on PostgreSQL. Leave it out: "
                f"ids then go on by {MARGIN:,}."
            )
        with as_command_errors():
            refuse_unmigrated()
            self.stdout.write(_told(lift_ids(replaced), replaced))


def _told(done: Lifted, replaced: Path | None) -> str:
    if done.guessed_since:
        how = f"by {MARGIN:,} or more, since {done.guessed_since}"
        at_rest = (
            f"All {done.of} id sequences were lifted before and have given no id since: nothing was changed."
        )
    else:
        how = f"above the highest ids of {replaced}"
        at_rest = f"All {done.of} id sequences are above those of {replaced}: nothing was changed."
    return f"Lifted {done.lifted} of {done.of} id sequences {how}." if done.lifted else at_rest
