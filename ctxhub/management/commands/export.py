import os
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.core.models import Project
from ctxhub.core.transfer.declaration import exported_kinds
from ctxhub.core.transfer.exporting import counts_of, lines_of
from ctxhub.management.memory import map_no_file
from ctxhub.management.progress import Progress
from ctxhub.management.projects import find_project
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated

STDOUT = "-"


class Command(BaseCommand):
    help = (
        "Write what a project holds to FILE as JSON Lines: all nouns with their revisions, without tokens,"
        " people, webhooks and leases."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="A new file; - is standard output.")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--project", help="This one, by its slug; default: the only one there is.")
        which.add_argument(
            "--all", action="store_true", help="Every project, to SLUG.jsonl in the folder FILE."
        )
        parser.add_argument(
            "--with-log",
            action="store_true",
            help="Also the event log, what agents were given, their use, and what was refused.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with as_command_errors():
            refuse_unmigrated()
            map_no_file()
            if not options["all"]:
                self._export(find_project(options["project"]), options["file"], options["with_log"])
                return
            for project in Project.objects.order_by("slug"):
                self._export(
                    project, str(Path(options["file"], f"{project.slug}.jsonl")), options["with_log"]
                )

    def _export(self, project: Project, file: str, with_log: bool) -> None:
        counts = counts_of(project, exported_kinds(with_log=with_log))
        progress = Progress(sum(counts.values()), "objects")
        lines = lines_of(project, with_log=with_log, progress=progress.of("export"))
        try:
            if file == STDOUT:
                _write(lines, sys.stdout.buffer)
            else:
                write_new(Path(file), lines)
        finally:
            progress.close()
        told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
        self.stderr.write(f"{project.slug} -> {file}: {told}.")


def write_new(path: Path, lines: Iterable[bytes]) -> None:
    """Write a new file that only its owner reads, whole or not at all. Raises CommandError."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder: name a new file in it, or add --all.")
    if path.exists():
        raise CommandError(f"{path} is there already: remove it, or name another file.")
    if not path.parent.is_dir():
        raise CommandError(f"There is no folder {path.parent}.")
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                _write(lines, file)
                file.flush()
                os.fsync(file.fileno())
                os.link(file.name, path)  # Never over a file that was made meanwhile.
            finally:
                Path(file.name).unlink(missing_ok=True)
    except FileExistsError as error:
        raise CommandError(f"{path} is there already: remove it, or name another file.") from error
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error


def _write(lines: Iterable[bytes], file: IO[bytes]) -> None:
    for line in lines:
        file.write(line)
