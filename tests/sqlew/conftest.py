"""Old databases, and an import of them into apollo."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxhub.core.models import Project
from tests.sqlew.importing import Import, imported
from tests.sqlew.old_file import OldFile


@pytest.fixture
def old(tmp_path: Path) -> Iterator[OldFile]:
    """A file of version 2, empty but for its layers."""
    file = OldFile(tmp_path / "sqlew.db")
    yield file
    file.close()


@pytest.fixture
def old_version(tmp_path: Path) -> Callable[[int], OldFile]:
    return lambda version: OldFile(tmp_path / f"sqlew{version}.db", version)


@pytest.fixture
def take(apollo: Project, old: OldFile) -> Callable[..., Import]:
    """Import the old file into apollo."""
    return lambda *arguments: imported(old.path, *arguments)
