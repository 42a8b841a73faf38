from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from ctxhub.core.kit import clock
from ctxhub.core.records.models import HubRecord
from ctxhub.core.records.services import note
from ctxhub.management.drills.drill import Drill, run_drill
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated


class Command(BaseCommand):
    help = (
        "Prove that a backup can be restored: make one, restore it into a temporary database, compare rows,"
        " search index and answers, and remove both."
    )
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        with as_command_errors():
            refuse_unmigrated()
        at = clock.now()
        try:
            with as_command_errors():
                done = run_drill()
        except CommandError as error:
            _note({"is_right": False, "result": str(error)}, at)
            raise
        manifest = done.backup.manifest
        details = {
            "is_right": True,
            "result": "",
            "bytes": done.backup.bytes,
            "rows": manifest.rows,
            "questions": done.questions,
            "seconds": round(done.times.total, 1),
        }
        if not _note(details, at):
            self.stderr.write("Note: the hub cannot write, and does not remember this drill.")
        self.stdout.write("\n".join(_told(done)))


def _note(details: dict[str, Any], at: Any) -> bool:
    """Whether the hub could note it."""
    with suppress(DatabaseError):
        note(HubRecord.Kind.DRILL, details, at=at)
        return True
    return False


def _told(done: Drill) -> list[str]:
    manifest, times = done.backup.manifest, done.times
    steps = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in times.by_step.items())
    return [
        f"The backup can be restored: {manifest.rows:,} rows in {len(manifest.tables)} tables, "
        f"{done.backup.bytes:,} bytes.",
        f"The same before and after: all rows, and the answers to {done.questions} questions.",
        done.index,
        f"It took {times.total:.1f} s: {steps}. Nothing is left of it.",
    ]
