"""Concurrent imports of the same file: each row is imported once."""

import subprocess
import sys
from pathlib import Path

import pytest

from ctxhub import env
from ctxhub.core.models import Event, Project
from memory.models import Constraint, Decision
from messaging.models import Message
from tests.sqlew.importing import Import
from tests.sqlew.old_file import OldFile
from tests.stdio import environment
from tests.timing import PATIENCE_SECONDS
from tracking.models import FileChange

pytestmark = pytest.mark.usefixtures("index_is_kept")

IMPORTS = 3
EACH = 50


@pytest.mark.django_db(transaction=True)
def test_concurrent_imports_take_each_row_once(apollo: Project, old: OldFile) -> None:
    for n in range(EACH):
        old.decision(f"k{n}", tags=["api", "own"])
        old.constraint(f"Must {n}")
        old.message(payload=f'"Look {n}"')
        old.change(f"src/{n}.py")
    reports = [Import(text) for text in import_at_once(old.close())]
    assert sorted(report.is_new for report in reports) == [False, False, True]
    for model in (Decision, Constraint, Message, FileChange):
        assert model.objects.in_project(apollo).count() == EACH
    assert Event.objects.in_project(apollo).filter(verb="imported").count() == 1


def import_at_once(path: Path) -> list[str]:
    """Run the command in several processes at once; return the report of each."""
    arguments = [
        sys.executable,
        str(env.ROOT / "manage.py"),
        "import_sqlew",
        str(path),
        "--project",
        "apollo",
    ]
    running = [
        subprocess.Popen(
            arguments, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(IMPORTS)
    ]
    outputs = [process.communicate(timeout=5 * PATIENCE_SECONDS) for process in running]
    assert [process.returncode for process in running] == [0] * IMPORTS, outputs
    return [output for output, _ in outputs]
