from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.core.models import Project
from ctxhub.core.transfer.declaration import KINDS
from ctxhub.core.transfer.file import read_header
from ctxhub.core.transfer.importing import Imported, Target, import_file
from ctxhub.core.transfer.staging import FAIL, ON_CONFLICT
from ctxhub.management.memory import map_no_file
from ctxhub.management.progress import Progress
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated


class Command(BaseCommand):
    help = "Read a file of `export` into a project: all of it, or nothing."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--project",
            help="Into this one, which is made if there is none; default: the project's slug in FILE.",
        )
        parser.add_argument("--name", default="", help="The name of a new project.")
        parser.add_argument(
            "--on-conflict",
            default=FAIL,
            choices=ON_CONFLICT,
            help="What becomes of objects that differ from those of the same UUID or name: the import fails"
            " (the default), they stay as they are, or they become those of FILE.",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Write nothing; say what would be new, and the first conflicts.",
        )
        parser.add_argument(
            "--hub-stopped", action="store_true", help="Nobody else writes: nothing has to be done in steps."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        with as_command_errors():
            refuse_unmigrated()
            map_no_file()
            if str(path) == "-" or path.is_fifo():
                raise CommandError(
                    f"{path} can be read only once, and an import reads it more often: write it to a file."
                )
            try:
                header = read_header(path)
                slug = options["project"] or header.project
                project = Project.objects.filter(slug=slug).first()
                progress = Progress(header.total, "objects")
                try:
                    done = import_file(
                        path,
                        Target(project, slug, options["name"]),
                        on_conflict=options["on_conflict"],
                        dry_run=options["dry_run"],
                        by="manage.py import",
                        hub_is_stopped=options["hub_stopped"],
                        progress=progress,
                    )
                finally:
                    progress.close()
            except OSError as error:
                raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        self.stdout.write(f"{path} -> {slug}{'' if project else ', a new project'}:")
        for line in lines_of(done):
            self.stdout.write(line)


def lines_of(done: Imported) -> Iterator[str]:
    """A table of counts by kind, then the first conflicts and what was left as it is."""
    outcome = done.outcome
    columns = (outcome.new, outcome.same, outcome.replaced, outcome.skipped)
    kinds = [kind for kind in KINDS if kind in done.checked.header.counts]
    width = max(map(len, kinds), default=0)
    yield f"{'':{width}}  {'new':>9}  {'the same':>9}  {'replaced':>9}  {'left':>9}"
    for kind in kinds:
        yield f"{kind:{width}}" + "".join(f"  {counts[kind]:>9,}" for counts in columns)
    if outcome.conflicting:
        more = outcome.conflicting - len(outcome.conflicts)
        named = ", ".join(outcome.conflicts) + (f" and {more:,} more" if more else "")
        yield f"\n{outcome.conflicting:,} differ: {named}."
    for kind, count in outcome.void.items():
        if count:
            yield f"{count:,} {kind} joined objects that are not in the file, and are left out."
    if left := sum(outcome.bare_refs.values()):
        where = ", ".join(f"{kind} {count:,}" for kind, count in outcome.bare_refs.items())
        yield (
            f"{left:,} refs with ids stand in texts that are not rewritten (files, snapshots, conversations,"
            f" old revisions, words outside links): they name ids of the other hub. In {where}."
        )
    new = sum(outcome.new.values())
    yield f"\n{new:,} new{'; this was a dry run, nothing is written' * done.is_dry}."
