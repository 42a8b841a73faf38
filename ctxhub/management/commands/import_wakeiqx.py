from typing import Any

from django.core.management.base import CommandParser

from ctxhub.core.kit.caller import Caller
from ctxhub.importers.shared.report import Report
from ctxhub.importers.wakeiqx.importing import import_snapshots
from ctxhub.importers.wakeiqx.reader import read_snapshots
from ctxhub.management.import_command import ImportCommand


class Command(ImportCommand):
    help = (
        "Take snapshots with their causes and dependencies from a database of WakeIQX; its file stays as it"
        " is."
    )
    path_help = "The SQLite file, or the SQL text that wrangler d1 export writes."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--source-project",
            metavar="NAME",
            help="Only this project of WakeIQX's; default: all of them.",
        )

    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        old = read_snapshots(options["path"], options["source_project"])
        return "WakeIQX", import_snapshots(caller=caller, old=old, dry_run=options["dry_run"])
