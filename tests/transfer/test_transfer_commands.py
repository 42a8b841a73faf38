"""What `manage.py export` and `import` say of files and names that are none."""

import os
from pathlib import Path

import pytest
from django.core.management import CommandError

from ctxhub.core.models import Project
from memory.models import Decision
from tests.transfer.world import run


@pytest.fixture
def path(full: Project, tmp_path: Path) -> Path:
    run("export", str(tmp_path / "a.jsonl"), project=full.slug)
    return tmp_path / "a.jsonl"


def test_there_and_back(path: Path, full: Project) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    run("import", str(path), project="copy")
    assert Decision.objects.in_project(Project.objects.get(slug="copy")).count() == 3


def test_a_file_that_cannot_be_written(path: Path) -> None:
    for file, message in (
        (path, "is there already"),
        (path.parent, r"is a folder: name a new file in it, or add --all"),
        (path / "none" / "a.jsonl", "There is no folder"),
    ):
        with pytest.raises(CommandError, match=message):
            run("export", str(file), project="apollo")
    with pytest.raises(CommandError, match=r"There is no project 'appolo'\. Projects: apollo"):
        run("export", str(path.parent / "b.jsonl"), project="appolo")


def test_a_file_that_cannot_be_read(path: Path) -> None:
    os.mkfifo(path.parent / "pipe")
    for file, message in (
        (path.parent / "none", "No such file"),
        (path.parent, "Is a directory"),
        (path.parent / "pipe", "can be read only once"),
        (Path("-"), "can be read only once"),
    ):
        with pytest.raises(CommandError, match=message):
            run("import", str(file), project="copy")
    with pytest.raises(CommandError, match="invalid choice: 'replcae'"):
        run("import", str(path), "--on-conflict", "replcae")
    assert not Project.unscoped.filter(slug="copy").exists()
