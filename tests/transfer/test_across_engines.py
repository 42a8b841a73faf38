"""From PostgreSQL to SQLite and back: the export is the same at both ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxhub.core.models import Project
from tests.core.command_line import MANAGE
from tests.timing import PATIENCE_SECONDS
from tests.transfer.world import export_of, objects_in, take, written


@pytest.mark.django_db
@pytest.mark.parametrize("with_log", [False, True])
def test_through_a_hub_on_sqlite_and_back(full: Project, tmp_path: Path, with_log: bool) -> None:
    """On PostgreSQL there and back across engines; on SQLite through another hub."""
    first = export_of(full, with_log=with_log)
    path = written(first, tmp_path / "first.jsonl")
    on_sqlite(tmp_path, "setup", "--no-input")
    on_sqlite(tmp_path, "import", str(path), "--project", "moved")
    options = ["--with-log"] if with_log else []
    on_sqlite(tmp_path, "export", str(tmp_path / "there.jsonl"), "--project", "moved", *options)
    there = (tmp_path / "there.jsonl").read_bytes().splitlines(keepends=True)
    back = take(tmp_path / "there.jsonl", slug="back")
    assert back.project
    again = export_of(back.project, with_log=with_log)
    assert without_imports(objects_in(there)) == objects_in(first)
    assert without_imports(objects_in(again)) == objects_in(first)


def without_imports(lines: list[bytes]) -> list[bytes]:
    """Without the events that tell of the imports themselves."""
    return [line for line in lines if b'"verb":"imported"' not in line]


def on_sqlite(folder: Path, *arguments: str) -> None:
    """Run a command of a hub of its own."""
    variables = {"CTXHUB_VAR_DIR": str(folder), "DATABASE_URL": f"sqlite:///{folder}/hub.sqlite3"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTXHUB_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, MANAGE, *arguments],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
