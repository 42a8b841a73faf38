"""Runs `manage.py import_...` and parses its report."""

from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.core.management import call_command


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
