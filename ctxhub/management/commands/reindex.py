import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.core.models import Project
from ctxhub.core.paths.mending import find_pattern_faults, mend_patterns
from ctxhub.core.search.index_check import SAMPLE, Fault, count_index, find_faults, out_of_step, wrong_parts
from ctxhub.core.search.reindexing import Reindexed, mend_parts, reindex
from ctxhub.management.projects import find_project
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated

SHOWN = 20


class Command(BaseCommand):
    help = "Put search index and path patterns right, or only say with --check what is wrong with them."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="Only this one, by its slug.")
        parser.add_argument(
            "--check", action="store_true", help="Write nothing; the exit code is 1 if anything is wrong."
        )
        parser.add_argument(
            "--all", action="store_true", help="With --check: compare every entry, not a sample of 1,000."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["project"]
        with as_command_errors():
            refuse_unmigrated()
            projects = [find_project(slug)] if slug else list(Project.objects.order_by("slug"))
            if options["check"]:
                self._check(projects, everything=options["all"])
            else:
                self._reindex(projects)

    def _reindex(self, projects: Sequence[Project]) -> None:
        started = time.monotonic()
        for line in mend_parts():
            self.stdout.write(f"Made again: {line}.")
        for project in projects:
            for done in _mending(project.pk):
                if done.looked_at:
                    seconds = time.monotonic() - started
                    self.stdout.write(
                        f"{project.slug}: {done.looked_at:,} {done.what}, {done.mended:,} put right,"
                        f" {seconds:.1f} s"
                    )
                    self.stdout.flush()
        self.stdout.write(f"The index is right, after {time.monotonic() - started:.1f} s.")

    def _check(self, projects: Sequence[Project], *, everything: bool) -> None:
        ids = [project.pk for project in projects]
        wrong = wrong_parts() or out_of_step()
        faults = find_faults(ids, everything=everything)
        faults += chain.from_iterable(map(find_pattern_faults, ids))
        for line in (*wrong, *in_words(faults, {project.pk: project.slug for project in projects})):
            self.stdout.write(line)
        entries, passages = count_index(ids)
        if wrong or faults:
            raise CommandError(
                f"The index of {entries:,} things is wrong; `manage.py reindex` puts it right."
            )
        compared = "all of them" if everything or entries <= SAMPLE else f"{SAMPLE:,} of them"
        self.stdout.write(
            f"The index is right: {entries:,} things in {passages:,} passages, {compared} compared."
        )


def in_words(faults: Iterable[Fault], slugs: Mapping[int, str]) -> list[str]:
    """Lines for each kind of fault: its count, then the first 20 refs."""
    lines = []
    ordered = sorted(faults, key=lambda fault: (fault.what, slugs[fault.project_id], fault.ref))
    for what, found in groupby(ordered, key=attrgetter("what")):
        faults_found = list(found)
        lines.append(f"{len(faults_found):,} x {what}:")
        lines += [f"  {slugs[fault.project_id]} {fault.ref}" for fault in faults_found[:SHOWN]]
        lines += [f"  and {len(faults_found) - SHOWN:,} more"] * (len(faults_found) > SHOWN)
    return lines


def _mending(project_id: int) -> Iterator[Reindexed]:
    yield from reindex(project_id)
    yield mend_patterns(project_id)
