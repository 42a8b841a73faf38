"""Two who import the same at once: each thing comes once."""

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
from tracking.models import FileChange

pytestmark = pytest.mark.usefixtures("index_is_kept")

IMPORTS = 3
EACH = 50


@pytest.mark.django_db(transaction=True)
def test_imports_at_once_take_each_thing_once(apollo: Project, old: OldFile) -> None:
    for n in range(EACH):
        old.decision(f"k{n}", tags=["api", "own"])
        old.constraint(f"Must {n}")
        old.message(payload=f'"Look {n}"')
        old.change(f"src/{n}.py")
    said = [Import(text) for text in import_at_once(old.close())]
    assert sorted(each.is_new for each in said) == [False, False, True]
    for model in (Decision, Constraint, Message, FileChange):
        assert model.objects.in_project(apollo).count() == EACH
    assert Event.objects.in_project(apollo).filter(verb="imported").count() == 1


def import_at_once(path: Path, command: str = "import_sqlew") -> list[str]:
    """In processes of their own; what each said."""
    words = [sys.executable, str(env.ROOT / "manage.py"), command, str(path), "--project", "apollo"]
    running = [
        subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(IMPORTS)
    ]
    ends = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * IMPORTS, ends
    return [said for said, _ in ends]
