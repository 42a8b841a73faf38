"""Base class of the import commands: reads a file into a project and prints the report."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.core.kit.caller import Caller
from ctxhub.importers.shared.files import NotReadable
from ctxhub.importers.shared.report import Report
from ctxhub.management.projects import find_project
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated

WRITERS_WAIT = "While it writes, writers wait: of the project on PostgreSQL, of all projects on SQLite."
IMPORTER = "system"  # The caller for validation; the event names no agent.


class ImportCommand(BaseCommand, ABC):
    """An import command. `path_help` says where the program keeps its file."""

    requires_system_checks = ()
    path_help = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, epilog=WRITERS_WAIT, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help=self.path_help)
        parser.add_argument("--project", help="Into this project; default: the only one there is.")
        parser.add_argument(
            "--dry-run", action="store_true", help="Write nothing, and say what would be taken and left."
        )

    @abstractmethod
    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        """Run the import. Returns the program's name and the report. Raises NotReadable."""

    def handle(self, *args: Any, **options: Any) -> None:
        with as_command_errors():
            refuse_unmigrated()
            project = find_project(options["project"])
            if not options["dry_run"]:
                self.stderr.write(WRITERS_WAIT)
            try:
                program, report = self.take(Caller(project=project, agent=IMPORTER), options)
            except NotReadable as problem:
                raise CommandError(str(problem)) from problem
        self.stdout.write(f"{options['path']} ({program}) into {project.slug}:")
        for line in report.lines():
            self.stdout.write(line)
        new = sum(report.taken.values())
        self.stdout.write(f"\n{new:,} new{'; this was a dry run, nothing is written' * options['dry_run']}.")
