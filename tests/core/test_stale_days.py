"""Below the folder globs of an object a day of changes counts once; each of a file that it names counts."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern, Project
from ctxhub.core.paths import counting
from ctxhub.core.paths.counting import count_batch, count_changes, first_of_days
from ctxhub.toolbox.dispatch import call
from tests.core.stale import after, change, counts, stale_items, write_rows
from tests.core.test_reindex import reindex
from tests.core.test_stale import count_in_process
from tests.crowd import ToolCall, in_processes, processes
from tracking.changes.services import record_change_batch
from tracking.models import FileChange

pytestmark = pytest.mark.django_db

MORNING = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def morning() -> Iterator[None]:
    with time_machine.travel(MORNING):
        yield


def all_rows(count: int) -> dict[str, int]:
    return dict.fromkeys(("decision", "constraint", "memory"), count)


def change_many(caller: Caller, count: int, folder: str = "src") -> None:
    for first in range(0, count, 50):
        names = range(first, min(first + 50, count))
        items = [{"path": f"{folder}/{n}.py", "change": "modified"} for n in names]
        record_change_batch(caller=caller, items=items)
    count_changes(caller.project_id)


def test_a_hundred_files_below_a_folder_count_once_a_day(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    for hours, expected in ((1, 1), (2, 1), (25, 2), (26, 2), (24 * 9, 3)):
        with after(hours=hours):
            change_many(ben, 100)
        assert counts(ada) == all_rows(expected)


@pytest.mark.parametrize("glob", ["src/**", "src/", "src/*.py", "**/*.py", "src/?.py", "sr[c]/**"])
def test_every_glob_is_one_of_folders(ada: Caller, ben: Caller, glob: str) -> None:
    write_rows(ada, [glob])
    change(ben, "src/a.py", "src/b.py", "src/a.py", hours=1)
    assert counts(ada) == all_rows(1)


@pytest.mark.parametrize("path", ["src/a.py", "app/[id]/page.tsx", "Makefile"])
def test_each_change_of_a_named_file_counts(ada: Caller, ben: Caller, path: str) -> None:
    write_rows(ada, ["docs/", path])
    change(ben, path, path, path, hours=1)
    assert counts(ada) == all_rows(3)


def test_a_file_is_named_without_case_where_case_does_not_count(ada: Caller, ben: Caller) -> None:
    set_config(caller=ada, values={"ignore_case_in_paths": True})
    write_rows(ada, ["SRC/a.py"])
    change(ben, "src/A.py", "Src/a.py", hours=1)
    assert counts(ada) == all_rows(2)


def test_several_globs_of_an_object_count_a_day_together(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**", "lib/", "**/*.py"])
    change(ben, "src/a.py", hours=1)
    change(ben, "lib/a.py", "tools/a.py", hours=2)
    assert counts(ada) == all_rows(1)


@pytest.mark.parametrize("paths", [["src/**", "src/a.py"], ["src/a.py", "src/**"]])
@pytest.mark.parametrize("files", [["src/a.py", "src/b.py"], ["src/b.py", "src/a.py"]])
def test_named_files_count_beside_the_day_of_the_others(
    ada: Caller, ben: Caller, files: list[str], paths: list[str]
) -> None:
    """In any order, at once or one after the other."""
    write_rows(ada, paths)
    change(ben, *files, "src/c.py", hours=1)
    assert counts(ada) == all_rows(2)
    for file in files:
        change(ben, file, hours=2)
    assert counts(ada) == all_rows(3)


def test_exempted_files_use_up_no_day(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**", "src/a.py", "!src/gen/**"])
    change(ben, "src/gen/x.py", hours=1)
    assert counts(ada) == {}
    change(ben, "src/b.py", "src/c.py", "src/a.py", "src/a.py", hours=2)
    assert counts(ada) == all_rows(3)


def test_what_the_author_knows_uses_up_no_day(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ada, "src/a.py", hours=1)
    change(ben, "src/a.py", hours=2)
    assert counts(ada) == all_rows(1)


def test_it_is_stale_since_the_first_change_that_counted(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    for hours in (1, 2, 30):
        change(ben, "src/a.py", hours=hours)
    row = PathPattern.objects.in_project(ada.project_id).get(kind="memory")
    assert row.stale_since
    assert row.stale_since.replace(microsecond=0) == MORNING.replace(hour=10)


def test_days_are_those_of_utc(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py", hours=14.9)
    change(ben, "src/a.py", hours=15.1)
    assert counts(ada) == all_rows(2)


# -- In parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_most", [1, 3, 25])
def test_batches_count_a_day_once(ada: Caller, ben: Caller, at_most: int) -> None:
    write_rows(ada, ["src/**", "src/0.py"])
    for hour in (10, 11):
        for day in (23, 24):
            with time_machine.travel(MORNING.replace(day=day, hour=hour)):
                items = [{"path": f"src/{n}.py", "change": "modified"} for n in range(10)]
                record_change_batch(caller=ben, items=items)
    while count_batch(ada.project_id, at_most):
        pass
    # Changes of the named file: 4. Days below the folder: 2, of which the first comes again.
    assert counts(ada) == all_rows(4 + 2)


@pytest.mark.parametrize(
    ("times", "after", "expected"),
    [
        ([], None, []),
        ([(23, 9), (23, 8), (24, 1)], None, [(23, 8), (24, 1)]),
        ([(23, 9), (24, 1)], (23, 23), [(24, 1)]),
        ([(22, 9), (23, 9)], (24, 0), []),
    ],
)
def test_days_that_have_passed_count_no_more(
    times: Sequence[tuple[int, int]], after: tuple[int, int] | None, expected: Sequence[tuple[int, int]]
) -> None:
    def moment(day: int, hour: int) -> datetime:
        return datetime(2026, 11, day, hour, tzinfo=UTC)

    found = first_of_days([moment(*each) for each in times], moment(*after) if after else None)
    assert list(found) == [moment(*each) for each in expected]


def test_a_failed_count_uses_up_no_day(ada: Caller, ben: Caller, monkeypatch: Any) -> None:
    write_rows(ada, ["src/**"])
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    with monkeypatch.context() as patch:
        patch.setattr(counting, "store_position", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            count_changes(ada.project_id)
    count_changes(ada.project_id)
    assert counts(ada) == all_rows(1)


def test_processes_that_count_while_others_write_count_a_day_once(
    hub: Any, ada: Caller, apollo: Project
) -> None:
    write_rows(ada, ["src/**", "src/0.py"])
    recorded = [
        ToolCall("file", {"action": "record", "path": f"src/{n}.py", "change": "modified"}) for n in range(5)
    ]
    with processes(4) as executor:
        counted = [executor.submit(count_in_process, apollo.pk) for _ in range(2)]
        in_processes(executor, apollo)([recorded] * 4)
        counted += [executor.submit(count_in_process, apollo.pk) for _ in range(4)]
        [each.result() for each in counted]
    changes = FileChange.objects.in_project(apollo.pk)
    days = {at.date() for at in changes.exclude(resource__path="src/0.py").values_list("at", flat=True)}
    assert changes.count() == 20
    assert counts(ada) == all_rows(4 + len(days))


# -- Begun again -----------------------------------------------------------------------------------


def test_a_change_on_the_day_of_the_confirmation_counts(ada: Caller, ben: Caller) -> None:
    """It is news after it."""
    refs = write_rows(ada, ["src/**"])
    change(ben, "src/a.py", hours=1)
    with time_machine.travel(MORNING.replace(hour=12)):
        call(ada, "hub", {"action": "confirm", "refs": refs})
    assert counts(ada) == {}
    change(ben, "src/a.py", "src/b.py", hours=4)
    assert counts(ada) == all_rows(1)


@pytest.mark.parametrize("paths", [["src/**"], ["src/**", "lib/**"]])
def test_a_change_on_the_day_of_a_write_counts(ada: Caller, ben: Caller, paths: list[str]) -> None:
    """Whether or not the write changed the paths."""
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py", hours=1)
    with time_machine.travel(MORNING.replace(hour=12)):
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": "sessions", "paths": paths})
    change(ben, "src/a.py", hours=4)
    assert counts(ada)["decision"] == 1


def test_a_change_after_a_repair_counts(ada: Caller, ben: Caller) -> None:
    refs = write_rows(ada, ["src/**"])
    change(ben, "src/a.py", hours=1)
    PathPattern.objects.in_project(ada.project_id).filter(kind="decision").update(head="x")
    reindex()
    assert stale_items(ada, refs) == [0, 1, 1]
    change(ben, "src/a.py", hours=2)
    assert stale_items(ada, refs) == [1, 1, 1]
