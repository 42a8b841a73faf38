"""Imports that are killed, run at once, or run while others write."""

import subprocess
import sys
import threading
from collections import Counter
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Import, Origin, Project
from ctxhub.core.search.index_check import find_faults
from ctxhub.core.transfer.importing import ALIVE, end_cut_off
from ctxhub.env import ROOT
from ctxhub.toolbox.dispatch import call
from memory.models import Decision
from tests.stdio import environment
from tests.transfer.world import export_of, fill, objects_in, take, written

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def path(apollo: Project, tmp_path: Path) -> Path:
    fill(Caller(project=apollo, agent="ada"), Caller(project=apollo, agent="ben"))
    return written(export_of(apollo), tmp_path / "a.jsonl")


def kill_at(step: str, path: Path, project: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.transfer.killed", str(path), project.slug, step],
        env={**environment(), "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr


def later() -> list[str]:
    """What a hub does when the import has not been heard of for a while."""
    with time_machine.travel(clock.now() + ALIVE + timedelta(minutes=1)):
        return end_cut_off()


def test_before_the_decision_nothing_is_left(path: Path, hermes: Project) -> None:
    before = objects_in(export_of(hermes, with_log=True))
    kill_at("staged", path, hermes)
    assert objects_in(export_of(hermes, with_log=True)) == before
    assert Project.unscoped.filter(is_hidden=True).count() == 1
    call_command("cleanup", stdout=StringIO())  # It may still be at work.
    assert Project.unscoped.filter(is_hidden=True).count() == 1
    assert len(later()) == 1
    assert Project.unscoped.filter(is_hidden=True).count() == 0
    assert (Import.objects.count(), Origin.objects.in_project(hermes).count()) == (0, 0)
    assert Decision.unscoped.count() == 3
    take(path, hermes)
    assert objects_in(export_of(hermes)) == [*path.read_bytes().splitlines(keepends=True)][1:-1]


@pytest.mark.parametrize("step", ["moving", "moved", "shown"])
def test_after_it_the_cleanup_finishes(step: str, path: Path, hermes: Project) -> None:
    kill_at(step, path, hermes)
    assert len(later()) == 1
    assert later() == []
    assert objects_in(export_of(hermes)) == [*path.read_bytes().splitlines(keepends=True)][1:-1]
    assert Project.unscoped.filter(is_hidden=True).count() == 0
    assert not find_faults([hermes.pk], everything=True)


def test_two_at_once(path: Path, hermes: Project) -> None:
    """Both succeed: the second to decide finds the same objects there, and begins again."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            take(path, hermes)
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert objects_in(export_of(hermes)) == [*path.read_bytes().splitlines(keepends=True)][1:-1]
    assert Project.unscoped.filter(is_hidden=True).count() == 0
    assert not find_faults([hermes.pk], everything=True)


def test_others_write_meanwhile(path: Path, hermes: Project) -> None:
    """Writers of the same project and of others come between its steps."""
    other = create_project(slug="other")
    stop = threading.Event()
    written_by: Counter[str] = Counter()

    def write(project: Project) -> None:
        caller = Caller(project=project, agent="cy")
        while not stop.is_set():
            number = written_by[project.slug]
            call(caller, "decision", {"action": "set", "key": f"mine/{number}", "value": "x"})
            written_by[project.slug] += 1
        connection.close()

    threads = [threading.Thread(target=write, args=[project]) for project in (hermes, other)]
    for thread in threads:
        thread.start()
    before = Counter(written_by)
    take(path, hermes)
    meanwhile = written_by - before
    stop.set()
    for thread in threads:
        thread.join()
    assert min(meanwhile["hermes"], meanwhile["other"]) >= 3
    assert Decision.objects.in_project(hermes).filter(key="db/engine").count() == 1
