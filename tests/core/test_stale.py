"""Decisions, constraints and memories become stale when others change the files that they bear on."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Event, PathPattern, Project, StaleCursor
from ctxhub.core.paths import counting
from ctxhub.core.paths.counting import count_batch, count_changes
from ctxhub.toolbox.dispatch import call
from memory.models import Decision
from tests.core.stale import after, change, counts, stale_items, write_rows
from tests.crowd import ToolCall, in_processes, processes
from tracking.changes.services import record_change_batch
from tracking.models import FileChange, Resource

pytestmark = pytest.mark.django_db

EACH = {"decision": 1, "constraint": 1, "memory": 1}


@pytest.mark.parametrize(
    ("paths", "path"),
    [
        (["src/api/**"], "src/api/users.py"),
        (["src/api/users.py"], "src/api/users.py"),
        (["docs/", "**/*.py"], "lib/a.py"),
        (["app/[id]/page.tsx"], "app/[id]/page.tsx"),
    ],
)
def test_a_change_by_another_marks_what_bears_on_the_file(
    ada: Caller, ben: Caller, paths: list[str], path: str
) -> None:
    refs = write_rows(ada, paths)
    change(ben, path)
    assert counts(ada) == EACH
    assert stale_items(ada, refs) == [1, 1, 1]


@pytest.mark.parametrize("paths", [["docs/**"], []])
def test_a_change_elsewhere_marks_nothing(ada: Caller, ben: Caller, paths: list[str]) -> None:
    """Not either what holds everywhere or bears on the file by a scope."""
    write_rows(ada, paths)
    call(ada, "constraint", {"action": "add", "category": "c", "text": "x", "scopes": ["api"]})
    change(ben, "src/api/users.py")
    assert counts(ada) == {}


def test_a_change_counts_once_for_a_row(ada: Caller, ben: Caller) -> None:
    refs = write_rows(ada, ["src/**", "**/*.py", "src/a.py"])
    change(ben, "src/a.py")
    assert stale_items(ada, refs) == [1, 1, 1]


def test_changes_add_up_since_the_first(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/a.py", "src/b.py"])
    change(ben, "src/a.py", "src/b.py")
    first = FileChange.objects.in_project(ada.project_id).order_by("pk")[0].at
    change(ben, "src/a.py", hours=1)
    assert counts(ada) == dict.fromkeys(EACH, 3)
    since = (
        PathPattern.objects.in_project(ada.project_id).filter(stale=3).values_list("stale_since", flat=True)
    )
    assert set(since) == {first}


def test_the_authors_own_changes_of_the_day_mark_nothing(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ada, "src/a.py")
    change(ada, "src/a.py", hours=23.9)
    assert counts(ada) == {}
    change(ada, "src/a.py", hours=24.1)
    assert counts(ada) == EACH


def test_a_change_before_the_write_marks_nothing(ada: Caller, ben: Caller) -> None:
    """Also if it is counted later."""
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    write_rows(ada, ["src/**"])
    count_changes(ada.project_id)
    assert counts(ada) == {}


def test_a_write_of_the_row_confirms_it(ada: Caller, ben: Caller) -> None:
    refs = write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    call(ben, "decision", {"action": "set", "key": "api/auth", "value": "JWT", "tags": ["security"]})
    call(ben, "memory", {"action": "update", "id": int(refs[2].partition(":")[2]), "title": "Keys"})
    assert counts(ada) == {"constraint": 1}
    assert stale_items(ada, refs) == [0, 1, 0]


def test_a_write_before_the_change_is_counted_confirms_nothing_later(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    call(ada, "decision", {"action": "set", "key": "api/auth", "value": "sessions"})
    count_changes(ada.project_id)
    assert counts(ada) == {"constraint": 1, "memory": 1}


def test_what_is_not_in_force_is_not_marked(ada: Caller, ben: Caller) -> None:
    refs = write_rows(ada, ["src/**"])
    call(ada, "decision", {"action": "deprecate", "key": "api/auth"})
    call(ada, "constraint", {"action": "deactivate", "id": int(refs[1].partition(":")[2])})
    change(ben, "src/a.py")
    assert counts(ada) == {"memory": 1}


def test_changes_of_another_project_mark_nothing(ada: Caller, ben: Caller, cy: Caller) -> None:
    write_rows(ada, ["src/**"])
    write_rows(cy, ["src/**"])
    change(ben, "src/a.py")
    assert (counts(ada), counts(cy)) == (EACH, {})


def test_writes_through_the_orm_do_the_same(ada: Caller, ben: Caller) -> None:
    """The rows, their change, and their confirmation."""
    with acting(ada):
        Decision.objects.create(project=ada.project, key="k", value="v", paths=["src/**"])
    with acting(ben), after(minutes=1):
        file = Resource.objects.create(project=ada.project, path="src/a.py")
        FileChange.objects.create(project=ada.project, resource=file, change=2, at=clock.now())
        count_changes(ada.project_id)
    assert counts(ada) == {"decision": 1}
    decision = Decision.objects.in_project(ada.project_id).get()
    decision.rationale = "It is short."
    decision.save()
    assert counts(ada) == {}


def test_a_correction_of_a_change_marks_nothing(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    changed = FileChange.objects.in_project(ada.project_id).get()
    changed.description = "It was slow."
    changed.save()
    changed.delete()
    count_changes(ada.project_id)
    assert counts(ada) == EACH


def test_changes_that_age_away_leave_the_row_stale(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    with after(days=100):
        cleanup(ada.project_id)
    assert not FileChange.objects.in_project(ada.project_id).exists()
    assert counts(ada) == EACH


# -- When it is counted ----------------------------------------------------------------------------


def test_nothing_is_counted_in_the_transaction_of_the_change(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    assert counts(ada) == {}


def test_what_a_killed_process_leaves_is_counted_by_the_next_cleanup(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    counting.WRITER.discard()
    cleanup(ada.project_id)
    assert counts(ada) == EACH


@pytest.mark.django_db(transaction=True)
def test_a_commit_of_a_change_counts_in_the_background(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    assert list(counting.WRITER.discard()) == []
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    counting.WRITER.flush()
    assert counts(ada) == EACH


def test_counting_again_changes_nothing(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    count_changes(ada.project_id)
    cleanup(ada.project_id)
    assert counts(ada) == EACH


def test_many_changes_are_counted_in_batches(ada: Caller, ben: Caller, monkeypatch: Any) -> None:
    monkeypatch.setattr(counting, "ROWS_AT_ONCE", 2)
    write_rows(ada, [f"src/{n}.py" for n in range(10)])
    items = [{"path": f"src/{n}.py", "change": "modified"} for n in range(10)]
    record_change_batch(caller=ben, items=items)
    assert count_batch(ada.project_id, 3)
    assert counts(ada) == dict.fromkeys(EACH, 3)
    count_changes(ada.project_id)
    assert counts(ada) == dict.fromkeys(EACH, 10)


def test_paths_are_matched_before_the_lock_and_a_write_meanwhile_confirms(
    ada: Caller, ben: Caller, monkeypatch: Any
) -> None:
    """Another process counts all before this one has the lock; then it counts nothing twice."""
    write_rows(ada, ["src/**"])
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    match = counting._objects_by_path

    def match_slowly(*given: Any) -> Any:
        found = match(*given)
        monkeypatch.setattr(counting, "_objects_by_path", match)
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": "sessions"})
        count_changes(ada.project_id)
        return found

    monkeypatch.setattr(counting, "_objects_by_path", match_slowly)
    count_changes(ada.project_id)
    assert counts(ada) == {"constraint": 1, "memory": 1}


def test_the_cursor_follows_the_events(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    cursor = StaleCursor.objects.in_project(ada.project_id).get().event_id
    write_rows(ben, ["lib/**"])
    count_changes(ada.project_id)
    assert StaleCursor.objects.in_project(ada.project_id).get().event_id == cursor


def test_the_cursor_passes_many_events_that_are_no_changes(
    ada: Caller, ben: Caller, monkeypatch: Any
) -> None:
    """So that no count reads them again."""
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    write_rows(ben, ["lib/**"])
    monkeypatch.setattr(counting, "PASSED_AT_LEAST", 2)
    count_changes(ada.project_id)
    newest = Event.objects.in_project(ada.project_id).latest("pk").pk
    assert StaleCursor.objects.in_project(ada.project_id).get().event_id == newest


def test_a_failed_count_leaves_the_cursor(ada: Caller, ben: Caller, monkeypatch: Any) -> None:
    write_rows(ada, ["src/**"])
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    with monkeypatch.context() as patch:
        patch.setattr(counting, "store_position", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            count_changes(ada.project_id)
    count_changes(ada.project_id)
    assert counts(ada) == EACH


def count_in_process(project_id: int) -> None:
    count_changes(project_id)
    connection.close()


def test_two_processes_count_each_change_once(hub: Any, ada: Caller, ben: Caller) -> None:
    write_rows(ada, [f"src/{n}.py" for n in range(50)])
    with processes(4) as executor:
        for _ in range(3):
            items = [{"path": f"src/{n}.py", "change": "modified"} for n in range(50)]
            record_change_batch(caller=ben, items=items)
            list(executor.map(count_in_process, [ada.project_id] * 8))
    assert counts(ada) == dict.fromkeys(EACH, 150)


def test_two_processes_count_while_others_write(hub: Any, ada: Caller, apollo: Project) -> None:
    write_rows(ada, [f"src/{n}.py" for n in range(5)])
    calls = [
        [
            ToolCall("file", {"action": "record", "path": f"src/{n}.py", "change": "modified"})
            for n in range(5)
        ]
        for _ in range(4)
    ]
    with processes(4) as executor:
        counted = [executor.submit(count_in_process, apollo.pk) for _ in range(2)]
        in_processes(executor, apollo)(calls)
        counted += [executor.submit(count_in_process, apollo.pk) for _ in range(4)]
        [each.result() for each in counted]
    assert counts(ada) == dict.fromkeys(EACH, 20)


# -- Statements ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 50])
def test_counting_takes_seven_statements(ada: Caller, ben: Caller, rows: int) -> None:
    named = [f"src/{n}.py" for n in range(20)]
    items = [{"key": f"k{n}", "value": n, "paths": [*named, f"lib/{n}/**"]} for n in range(rows)]
    call(ada, "decision", {"action": "set_batch", "items": items})
    changed = [{"path": f"src/{n}.py", "change": "modified"} for n in range(min(rows, 20))]
    record_change_batch(caller=ben, items=changed)
    assert len(statements_of(lambda: count_batch(ada.project_id))) == 7
    stale = PathPattern.objects.in_project(ada.project_id).filter(position=0)
    assert set(stale.values_list("stale", flat=True)) == {len(changed)}


def test_nothing_new_takes_one_statement(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    assert len(statements_of(lambda: count_batch(ada.project_id))) == 1


def statements_of(run: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        run()
    return [
        each["sql"]
        for each in queries
        if not each["sql"].startswith(("SAVEPOINT", "RELEASE", "SET LOCAL statement_timeout"))
    ]
