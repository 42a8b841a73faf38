from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.core.caller import Caller
from ctxhub.management.projects import find_project
from ctxhub.management.refusals import as_sentences, refuse_unmigrated
from ctxhub.management.sqlew.database import NotReadable, old_database
from ctxhub.management.sqlew.importing import import_hub
from ctxhub.management.sqlew.reader import read_hub
from ctxhub.management.sqlew.rows import OldHub

IMPORTER = "system"  # Whose rules hold for what is taken; the log names nobody.
FOLDER = ".sqlew"


class Command(BaseCommand):
    help = (
        "Take decisions, constraints, messages and changes from a database of sqlew; its file stays as it is."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="The file: .sqlew/sqlew.db in most repositories.")
        parser.add_argument("--project", help="Into this project; default: the only one there is.")
        parser.add_argument(
            "--from",
            dest="source",
            metavar="NAME",
            help="This project of sqlew's, where its file has several.",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Write nothing, and say what would be taken and left."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with as_sentences():
            refuse_unmigrated()
            project = find_project(options["project"])
            hub = _read(options["path"], options["source"])
            caller = Caller(project=project, agent=IMPORTER)
            report = import_hub(
                caller=caller, hub=hub, root=_root(options["path"]), dry_run=options["dry_run"]
            )
        self.stdout.write(f"{options['path']} (sqlew {hub.version}) into {project.slug}:")
        for line in report.lines():
            self.stdout.write(line)
        new = sum(report.taken.values())
        self.stdout.write(f"\n{new:,} new{'; this was a dry run, nothing is written' * options['dry_run']}.")


def _read(path: Path, source: str | None) -> OldHub:
    try:
        with old_database(path) as database:
            return read_hub(database, source)
    except NotReadable as problem:
        raise CommandError(str(problem)) from problem


def _root(path: Path) -> Path | None:
    """The repository, where the file lies in the folder that sqlew makes there."""
    return path.resolve().parent.parent if path.resolve().parent.name == FOLDER else None
