"""Databases of other programs, and imports of them into apollo."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxhub.core.models import Project
from tests.importing.old_knowledge import OldKnowledge
from tests.importing.old_pads import OldPads
from tests.importing.old_snapshots import OldSnapshots
from tests.sqlew.importing import Import, imported


@pytest.fixture
def pads(tmp_path: Path) -> Iterator[OldPads]:
    """An empty file by the published design."""
    file = OldPads(tmp_path / "scratchpad.db")
    yield file
    file.close()


@pytest.fixture
def take_pads(apollo: Project, pads: OldPads) -> Callable[..., Import]:
    """Import the file into apollo."""
    return lambda *arguments, path=pads.path, project="apollo": imported(
        path, *arguments, project=project, command="import_scratchpads"
    )


@pytest.fixture
def knowledge(tmp_path: Path) -> Iterator[OldKnowledge]:
    """An empty file of Free Context."""
    file = OldKnowledge(tmp_path / "context.db")
    yield file
    file.close()


@pytest.fixture
def take_knowledge(apollo: Project, knowledge: OldKnowledge) -> Callable[..., Import]:
    """Import the file into apollo."""
    return lambda *arguments, path=knowledge.path, project="apollo": imported(
        path, *arguments, project=project, command="import_free_context"
    )


@pytest.fixture
def snapshots(tmp_path: Path) -> Iterator[OldSnapshots]:
    """An empty file of the newest WakeIQX."""
    file = OldSnapshots(tmp_path / "wakeiqx.db")
    yield file
    file.close()


@pytest.fixture
def take_snapshots(apollo: Project, snapshots: OldSnapshots) -> Callable[..., Import]:
    """Import the file into apollo."""
    return lambda *arguments, path=snapshots.path, project="apollo": imported(
        path, *arguments, project=project, command="import_wakeiqx"
    )
