"""Makes the fixtures of a release: `python -m tests.upgrades.make NAME`, in two to five minutes.

They are the databases, on SQLite and PostgreSQL, in which the golden hour of a checkout was played, and in
which each table has a row. `--checkout` names that of an older release, `--python` what runs it; default:
this one.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.postgres import debian_programs, run_on_postgres
from tests.upgrades import recording

HERE = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent / "files"
HOUR = "tests/golden/test_hour.py"
NAME = re.compile(r"\d[\d.-]*")


def file_of(name: str, engine: str) -> Path:
    return FOLDER / f"{name}-{engine}.sql.xz"


def states() -> list[str]:
    """The names of those that there are."""
    return sorted({file.name.rpartition("-")[0] for file in FOLDER.glob("*.sql.xz")})


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrades.make", description=__doc__)
    parser.add_argument("name", metavar="NAME", help="The version, or the date of a state without one.")
    parser.add_argument("--checkout", type=Path, default=HERE)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument(
        "--rows-alone", action="store_true", help="Without the hour: of a state that cannot be upgraded."
    )
    given = parser.parse_args(arguments)
    if not NAME.fullmatch(given.name):
        parser.error("NAME is a version or a date: 0.2.0, 2026-11-24")
    if debian_programs() is None:
        parser.error("it needs pg_dump: install PostgreSQL, with its server")
    FOLDER.mkdir(exist_ok=True)
    for engine in ("sqlite", "postgresql"):
        target = file_of(given.name, engine)
        record(target, engine, given.checkout.resolve(), given.python, rows_alone=given.rows_alone)
        sys.stdout.write(f"{target}: {target.stat().st_size:,} bytes\n")


def record(target: Path, engine: str, checkout: Path, python: str, *, rows_alone: bool = False) -> None:
    """Play the hour of a checkout on an engine, and write what its database holds then."""
    with tempfile.TemporaryDirectory() as folder:
        # Alone, as the checkout has another package of this one's name.
        plugin = shutil.copy(recording.__file__, Path(folder, "ctxhub_recording.py"))
        command = [
            python,
            "-m",
            "pytest",
            "-q",
            "--timeout=1800",
            "-p",
            Path(plugin).stem,
            "--rootdir",
            str(checkout),
            HOUR,
        ]
        variables = {recording.TARGET: str(target), "PYTHONPATH": folder}
        if rows_alone:
            variables[recording.ROWS_ALONE] = "1"
        if engine == "sqlite":
            code = subprocess.run(
                command, env={**os.environ, **variables, "DATABASE_URL": ""}, cwd=checkout, check=False
            ).returncode
        else:
            settings = [f"{name}={value}" for name, value in variables.items()]
            code = run_on_postgres(["env", f"--chdir={checkout}", *settings, *command])
    if code:
        sys.exit(f"The hour was not played on {engine}.")


if __name__ == "__main__":
    main(sys.argv[1:])
