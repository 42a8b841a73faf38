from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from ctxhub.core.kit.caller import Caller
from ctxhub.importers.shared.report import Report
from ctxhub.importers.sqlew.database import open_database
from ctxhub.importers.sqlew.importing import import_hub
from ctxhub.importers.sqlew.reader import read_hub
from ctxhub.management.import_command import ImportCommand

FOLDER = ".sqlew"


class Command(ImportCommand):
    help = (
        "Take decisions, constraints, messages and changes from a database of sqlew; its file stays as it is."
    )
    path_help = "The file: .sqlew/sqlew.db in most repositories."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--from",
            dest="source",
            metavar="NAME",
            help="This project of sqlew's, where its file has several.",
        )

    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        with open_database(options["path"]) as database:
            hub = read_hub(database, options["source"])
        report = import_hub(caller=caller, hub=hub, root=_root(options["path"]), dry_run=options["dry_run"])
        return f"sqlew {hub.version}", report


def _root(path: Path) -> Path | None:
    """The repository's path if the file lies in its .sqlew folder."""
    return path.resolve().parent.parent if path.resolve().parent.name == FOLDER else None
