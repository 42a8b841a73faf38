"""Runs `manage.py import_...` and parses its report."""

import time
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from tests.crowd import SECONDS_TO_GATHER, close_connection, processes

AT_ONCE = 3


@dataclass(frozen=True)
class Import:
    """The printed report. `counts`: of each kind, how many rows were imported, already there, and skipped."""

    text: str

    @property
    def counts(self) -> dict[str, tuple[int, int, int]]:
        table = self.text.partition("left\n")[2].partition("\n\n")[0]
        rows = (line.replace(",", "").split() for line in table.splitlines())
        return {kind: (int(taken), int(there), int(left)) for kind, taken, there, left in rows}

    @property
    def reasons(self) -> list[str]:
        return self._lines_below("Left, and why:")

    @property
    def changes(self) -> list[str]:
        return self._lines_below("Taken, but not as it was:")

    @property
    def is_new(self) -> bool:
        return "\n0 new" not in self.text

    def _lines_below(self, heading: str) -> list[str]:
        lines = self.text.partition(f"{heading}\n")[2].partition("\n\n")[0].splitlines()
        return [line.strip() for line in lines]


def imported(path: Path, *arguments: str, project: str = "apollo", command: str = "import_sqlew") -> Import:
    out = StringIO()
    call_command(command, str(path), "--project", project, *arguments, stdout=out)
    return Import(out.getvalue())


def imported_at_once(path: Path, command: str) -> list[Import]:
    """Import in several processes at once."""
    with processes(AT_ONCE) as executor:
        start_at = time.time() + SECONDS_TO_GATHER
        running = [executor.submit(_report, path, command, start_at) for _ in range(AT_ONCE)]
        return [Import(report.result()) for report in running]


def _report(path: Path, command: str, start_at: float) -> str:
    time.sleep(max(0.0, start_at - time.time()))
    try:
        return imported(path, command=command).text
    finally:
        close_connection()
