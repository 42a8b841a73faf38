"""Import of sqlew's file changes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.core.paths.counting import count_changes
from tests.core.stale import after, counts, write_rows
from tests.sqlew.importing import Import, imported
from tests.sqlew.old_file import OldFile
from tracking.models import FileChange, Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]


def ago(**span: float) -> datetime:
    return (clock.now() - timedelta(**span)).replace(microsecond=0)


def stored(project: Project) -> list[FileChange]:
    changes = FileChange.objects.in_project(project).select_related("resource", "agent", "layer")
    return list(changes.order_by("pk"))


@pytest.mark.parametrize(("version", "agent"), [(1, "ada"), (2, "ada"), (3, "ada"), (4, None)])
def test_a_change_keeps_its_fields_and_time(
    apollo: Project, old_version: Callable[[int], OldFile], version: int, agent: str | None
) -> None:
    file, then = old_version(version), ago(days=2)
    file.change("./src/app.py", 3, layer="data", at=then, description="Gone")
    assert imported(file.close()).counts["changes"] == (1, 0, 0)
    [change] = stored(apollo)
    assert (change.resource.path, change.get_change_display()) == ("src/app.py", "deleted")
    assert (change.description, change.at) == ("Gone", then)
    assert change.layer
    assert (change.layer.name, change.agent and change.agent.name) == ("data", agent)


def test_each_change_records_an_event_and_each_file_one_resource(
    apollo: Project, old: OldFile, take: Take
) -> None:
    for kind in (1, 2):
        old.change("src/app.py", kind)
    take()
    assert Resource.objects.in_project(apollo).count() == 1
    events = Event.objects.in_project(apollo).filter(noun="change").order_by("pk")
    assert [(event.verb, event.ref) for event in events] == [
        ("created", "resource:src/app.py"),
        ("modified", "resource:src/app.py"),
    ]


def test_changes_older_than_the_retention_are_skipped(apollo: Project, old: OldFile, take: Take) -> None:
    old.change("old.py", at=ago(days=8))
    old.change("new.py", at=ago(days=6))
    report = take()
    assert report.counts["changes"] == (1, 0, 1)
    assert report.reasons[0].startswith("changes (1): older than change_days (7)")
    assert [change.resource.path for change in stored(apollo)] == ["new.py"]


def test_repeated_changes_are_recognised_by_all_their_fields(
    apollo: Project, old: OldFile, take: Take
) -> None:
    then = ago(hours=1)
    for _ in range(2):
        old.change(at=then)
    take()
    old.change(at=then)
    old.change(at=then, agent="ben")
    old.change(at=then + timedelta(seconds=1))
    assert take().counts["changes"] == (3, 2, 0)
    assert len(stored(apollo)) == 5


def test_absolute_paths_in_the_repository_become_relative(apollo: Project, tmp_path: Path) -> None:
    (tmp_path / ".sqlew").mkdir()
    file = OldFile(tmp_path / ".sqlew" / "sqlew.db")
    file.change(f"{tmp_path}/src/app.py")
    file.change("/etc/passwd")
    file.change("/etc/hosts")
    report = imported(file.close())
    assert report.counts["changes"] == (1, 0, 2)
    assert [change.resource.path for change in stored(apollo)] == ["src/app.py"]
    assert len(report.reasons) == 1
    assert "must be relative to the repository" in report.reasons[0]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"path": "../up.py"}, "must be relative to the repository, without '..'"),
        ({"change": 9}, "change: 9 is not known"),
        ({"description": "x" * 70_000}, "description has 70,000 bytes"),
        ({"description": f"ghp_{'a1B2' * 9}"}, "seems to hold a credential"),
        ({"path": "p" * 1_001}, "path has 1001 characters"),
    ],
)
def test_an_invalid_change_is_skipped_with_the_reason(
    old: OldFile, take: Take, row: dict[str, Any], reason: str
) -> None:
    old.change(**row)
    old.change("good.py")
    report = take()
    assert report.counts["changes"] == (1, 0, 1)
    assert any(reason in line for line in report.reasons), report.reasons


def test_a_change_without_its_file_or_time_is_skipped(apollo: Project, old: OldFile, take: Take) -> None:
    old.insert("file_changes", file_id=99, agent_id=1, change_type=1, ts=1)
    old.insert(
        "file_changes", file_id=old.name_id("files", "a.py", "path"), agent_id=1, change_type=1, ts="soon"
    )
    assert take().counts["changes"] == (0, 0, 2)
    assert not stored(apollo)


def test_an_imported_change_makes_nothing_stale(ada: Caller, old: OldFile, take: Take) -> None:
    write_rows(ada, ["src/**"])
    with after(minutes=1):
        old.change("src/app.py", 2)
        assert take().counts["changes"] == (1, 0, 0)
        count_changes(ada.project_id)
    assert counts(ada) == {}
