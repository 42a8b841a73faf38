"""Runs a drill: backs up, restores into a temporary database, and compares what is there with what was.

The state before is what the backup was made of, not the hub: others write to that meanwhile.
"""

import io
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from ctxhub.core.kit import clock
from ctxhub.core.kit.background import When, all_writers
from ctxhub.core.transfer.models import Import, ImportState
from ctxhub.management.backups.backing_up import BackedUp, make_backup
from ctxhub.management.backups.keys import holds_key
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.backups.restoring import open_backup, restore_into
from ctxhub.management.backups.work_folder import work_folder
from ctxhub.management.drills import asking, sums
from ctxhub.management.drills.asking import Question, answers_to, choose_questions
from ctxhub.management.drills.sums import Sums, sums_of_tables
from ctxhub.management.drills.temporary_database import refuse_without_right, temporary_database

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """What a database holds, and what it answers at a moment."""

    sums: Sums
    questions: Sequence[Question]
    answers: Sequence[str]


@dataclass(slots=True)
class Times:
    """Seconds by step, in order."""

    by_step: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.by_step[step] = self.by_step.get(step, 0.0) + time.monotonic() - began

    @property
    def total(self) -> float:
        return sum(self.by_step.values())


@dataclass(frozen=True, slots=True)
class Drill:
    """A drill that found no difference."""

    backup: BackedUp
    questions: int
    index: str
    times: Times


def run_drill() -> Drill:
    """Raises CommandError with a sentence for each difference, or for why there was no drill, DatabaseError
    and OSError. Leaves nothing behind, and the hub as it is.
    """
    refuse_without_right()
    at, times = clock.now(), Times()
    folder = Path(settings.VAR_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    with _nothing_noted(), work_folder(folder) as work:
        done, before = _back_up(work, at, times)
        archive = open_backup(done.path)
        if not holds_key(archive, str(settings.SECRET_KEY)):
            raise CommandError("The secret key in the backup is not the hub's.")
        with temporary_database(work) as database:
            with times.of("restore"):
                restore_into(archive, database)
            with connected_to(database):
                index = _compare(before, at, times)
    return Drill(done, len(before.questions), index, times)


def _back_up(work: Path, at: datetime, times: Times) -> tuple[BackedUp, DatabaseState]:
    found: list[DatabaseState] = []

    def look() -> None:
        with times.of("questions"):
            with clock.fixed_at(at):
                questions = choose_questions()
                answers = answers_to(questions)
            found.append(DatabaseState(sums_of_tables(), questions, answers))

    began = time.monotonic()
    done = make_backup(work / "backup.tar", look)
    times.by_step = {"backup": time.monotonic() - began - times.total, "restore": 0.0, **times.by_step}
    [state] = found
    return done, state


def _compare(before: DatabaseState, at: datetime, times: Times) -> str:
    """Compare with the database that this thread is connected to; returns what the check of the index says.

    Raises CommandError with a sentence for each difference.
    """
    with times.of("comparison"):
        found = [*sums.differences(before.sums, sums_of_tables())]
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")  # Or the plans would be those of empty tables.
        faults, index = _check_index()
        found += faults
    with times.of("questions"), clock.fixed_at(at):
        found += asking.differences(before.questions, before.answers, answers_to(before.questions))
    if found:
        raise CommandError("\n".join(found))
    return index


def _check_index() -> tuple[list[str], str]:
    """What is wrong with the search index, in a sentence, and else that it is right."""
    if Import.objects.filter(state__in=(ImportState.MOVING, ImportState.SHOWN)).exists():
        return [], "The index was not checked: an import was just being added to it."
    told = io.StringIO()
    try:
        call_command("reindex", check=True, stdout=told)
    except CommandError:
        lines = "; ".join(line.strip() for line in told.getvalue().splitlines())
        return [f"The search index is wrong after the restore: {lines}. See: manage.py reindex --check"], ""
    return [], told.getvalue().strip()


@contextmanager
def _nothing_noted() -> Iterator[None]:
    """Let questions leave no trace: what is noted beside answers would be written to the hub."""
    writers = [(writer, writer.when) for writer in all_writers()]
    for writer, _ in writers:
        writer.when = When.ON_FLUSH
    try:
        yield
    finally:
        for writer, when in writers:
            writer.discard()
            writer.when = when
