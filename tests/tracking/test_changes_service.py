"""File changes: recording, batches, lists, locks and retention."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events import cleanup
from ctxhub.core.events.counters import Stats
from ctxhub.core.hub.overview import count_all, summarise_layers
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.models import Agent, Event, Project
from ctxhub.toolbox.dispatch import call
from tests.tables import dump_project
from tracking.changes.locks import check_lock
from tracking.changes.queries import list_changes
from tracking.changes.services import record_change, record_change_batch
from tracking.files.queries import list_resources
from tracking.leases.services import acquire_lease
from tracking.models import FileChange, Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def paths(project: Project, **query: Any) -> list[str]:
    return [row[1] for row in list_changes(project.pk, **query).rows]


# -- Recording -------------------------------------------------------------------------------------


def test_a_change_is_recorded_with_all_its_fields(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = record_change(
            caller=ada, path="src/app.py", change="modified", layer="DATA", description="Why."
        )
        [row] = list_changes(ada.project_id).rows
    expected = [answer["id"], "src/app.py", "modified", "ada", "data", "Why.", "2026-11-21T12:00:00Z"]
    assert list(row) == expected


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("./src/app.py", "src/app.py"),
        ("src\\app.py", "src/app.py"),
        ("src//./app.py", "src/app.py"),
        ("src/", "src"),
        (" src/App.py ", "src/App.py"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("\u65e5\u672c/x", "\u65e5\u672c/x"),
    ],
)
def test_paths_are_normalised(ada: Caller, given: str, path: str) -> None:
    assert record_change(caller=ada, path=given, change="created")["path"] == path


@pytest.mark.parametrize("change", ["created", "Modified", "3", 3])
def test_the_kind_of_change_is_a_word_in_any_case_or_its_number(ada: Caller, change: Any) -> None:
    assert record_change(caller=ada, path="a", change=change)["path"] == "a"


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ({"path": "/etc/passwd"}, "relative"),
        ({"path": "src/../x"}, "relative"),
        ({"path": "C:/x"}, "relative"),
        ({"path": " "}, "blank"),
        ({"path": "./"}, "path"),
        ({"path": "a\x00"}, "NUL"),
        ({"path": "x" * 1_001}, "1000"),
        ({"path": "\U0001f600" * 900}, "bytes"),
        ({"path": "ghp_" + "a1B2" * 9}, "credential"),
        ({"change": "edited"}, "modified"),
        ({"change": "4"}, "created"),
        ({"layer": "cellar"}, "business"),
        ({"description": "x" * 65_537}, "65,536"),
        ({"description": "AKIA" + "A1B2C3D4E5F6G7H8"}, "credential"),
    ],
    ids=str,
)
def test_invalid_input_is_refused_and_nothing_written(
    ada: Caller, apollo: Project, arguments: dict[str, Any], about: str
) -> None:
    before = dump_project(apollo)
    with pytest.raises(InvalidInput) as refused:
        record_change(caller=ada, **{"path": "a", "change": "created", **arguments})
    assert about in str(refused.value.body())
    assert dump_project(apollo) == before


def test_a_change_records_one_event(ada: Caller, apollo: Project) -> None:
    record_change(caller=ada, path="src/app.py", change="deleted", description="Unused.")
    event = Event.objects.in_project(apollo).get()
    assert (event.noun, event.verb, event.ref) == ("change", "deleted", "resource:src/app.py")
    assert str(event.agent) == "ada"
    assert event.data == {"id": FileChange.objects.in_project(apollo).get().pk, "note": "Unused."}


def test_stats_count_changes_and_files(ada: Caller, apollo: Project) -> None:
    for path, layer in (("a", "data"), ("a", None), ("b", "data")):
        record_change(caller=ada, path=path, change="modified", layer=layer)
    stats = Stats(apollo.pk)
    assert (stats.of("change"), stats.of("resource")) == (3, 2)
    assert list(stats.by_layer("change").values()) == [2]
    counts = count_all(apollo.pk)
    assert (counts["changes"], counts["files"], counts["leases"]) == (3, 2, 0)


def test_layers_count_the_changes_of_the_last_hour(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        record_change(caller=ada, path="old", change="modified", layer="data")
        now.shift(timedelta(minutes=30))
        record_change(caller=ada, path="new", change="modified", layer="data")
        record_change(caller=ada, path="none", change="modified")
        now.shift(timedelta(minutes=31))
        changes = {row["layer"]: row["changes"] for row in summarise_layers(apollo.pk).objects()}
    assert changes == {"presentation": 0, "business": 0, "data": 1, "infrastructure": 0, "cross-cutting": 0}


def test_reading_registers_no_agent(ada: Caller, apollo: Project) -> None:
    assert paths(apollo, by="nobody") == []
    check_lock(ada, path="a")
    assert not Agent.objects.in_project(apollo).exists()


# -- Batches ---------------------------------------------------------------------------------------


def item(path: str, change: str = "modified", **rest: Any) -> dict[str, Any]:
    return {"path": path, "change": change, **rest}


def test_a_batch_is_recorded_in_order(ada: Caller, apollo: Project) -> None:
    answer = record_change_batch(
        caller=ada, items=[item("a"), item("./b", layer="data"), item("a", "deleted")]
    )
    assert (answer["done"], answer["failed"]) == (3, 0)
    assert [result["path"] for result in answer["results"]] == ["a", "b", "a"]
    newest = [(row[0], row[1], row[2]) for row in list_changes(apollo.pk).rows]
    assert newest[0] == (answer["results"][2]["id"], "a", "deleted")
    assert Resource.objects.in_project(apollo).count() == 2


def test_since_an_event_of_a_batch_lists_the_later_items(ada: Caller, apollo: Project) -> None:
    record_change_batch(caller=ada, items=[item(f"f{n}") for n in range(3)])
    first = Event.objects.in_project(apollo).order_by("pk").first()
    assert first
    assert paths(apollo, since=f"e{first.pk}") == ["f2", "f1"]


@pytest.mark.parametrize("wrong", [item(".."), item("a", "moved"), item("a", layer="cellar")])
def test_a_batch_is_all_or_nothing(ada: Caller, apollo: Project, wrong: dict[str, Any]) -> None:
    before = dump_project(apollo)
    with pytest.raises(InvalidInput) as refused:
        record_change_batch(caller=ada, items=[item("a"), wrong])
    assert refused.value.details["index"] == 1
    assert dump_project(apollo) == before


def test_a_batch_that_is_not_atomic_skips_invalid_items(ada: Caller, apollo: Project) -> None:
    items = [item(".."), item("a"), item("b", layer="cellar"), item("c", layer="cellar")]
    answer = record_change_batch(caller=ada, items=items, atomic=False)
    assert (answer["done"], answer["failed"]) == (1, 3)
    assert [result.get("error", "done") for result in answer["results"]] == [
        "invalid",
        "done",
        "invalid",
        "invalid",
    ]
    assert ["allowed" in result for result in answer["results"]] == [False, False, True, False]
    assert paths(apollo) == ["a"]


def test_a_batch_has_a_limit(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="50"):
        record_change_batch(caller=ada, items=[item(f"f{n}") for n in range(51)])


def test_a_batch_executes_as_many_queries_for_50_items_as_for_1(ada: Caller) -> None:
    record_change(caller=ada, path="first", change="created")

    def queries(count: int, name: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            record_change_batch(caller=ada, items=[item(f"{name}{n}", layer="data") for n in range(count)])
        return len(captured)

    assert queries(1, "a") == queries(50, "b") <= 13


def test_recording_executes_few_statements(ada: Caller) -> None:
    record_change(caller=ada, path="a", change="created")
    with CaptureQueriesContext(connection) as captured:
        record_change(caller=ada, path="a", change="modified")
    statements = [query["sql"] for query in captured if "SAVEPOINT" not in query["sql"]]
    assert len(statements) <= 10, statements


# -- Lists -----------------------------------------------------------------------------------------


@pytest.fixture
def history(ada: Caller, ben: Caller) -> Project:
    with time_machine.travel(NOON, tick=False) as now:
        record_change(caller=ada, path="src/api/auth.py", change="created", layer="business")
        now.shift(timedelta(hours=2))
        record_change(caller=ben, path="src/api/auth.py", change="modified", layer="data")
        record_change(caller=ben, path="src/app.py", change="created")
        now.shift(timedelta(minutes=1))
        record_change(caller=ada, path="docs/read_me.md", change="deleted", layer="data")
    return ada.project


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["docs/read_me.md", "src/app.py", "src/api/auth.py"]),
        ({"since": "1d"}, ["docs/read_me.md", "src/app.py", "src/api/auth.py", "src/api/auth.py"]),
        ({"since": "2026-11-21T14:01:00Z"}, ["docs/read_me.md"]),
        ({"path": "src/api/auth.py"}, ["src/api/auth.py"] * 2),
        ({"path": "./src/api//auth.py"}, ["src/api/auth.py"] * 2),
        ({"path": "src/*"}, ["src/app.py"]),
        ({"path": "src/**"}, ["src/app.py", "src/api/auth.py", "src/api/auth.py"]),
        ({"path": "src/"}, ["src/app.py", "src/api/auth.py", "src/api/auth.py"]),
        ({"path": "**/*.md"}, ["docs/read_me.md"]),
        ({"path": "src/api"}, []),
        ({"path": "SRC/app.py"}, []),
        ({"by": "BEN"}, ["src/app.py", "src/api/auth.py"]),
        ({"by": "nobody"}, []),
        ({"layer": "Data"}, ["docs/read_me.md", "src/api/auth.py"]),
        ({"change": "created"}, ["src/app.py", "src/api/auth.py"]),
        ({"change": "1"}, ["src/app.py", "src/api/auth.py"]),
        ({"by": "ada", "layer": "data"}, ["docs/read_me.md"]),
        ({"path": "src/**", "change": "modified", "by": "ben", "since": "3h"}, ["src/api/auth.py"]),
        ({"limit": 1}, ["docs/read_me.md"]),
    ],
    ids=str,
)
def test_changes_by_each_filter(history: Project, query: dict[str, Any], expected: list[str]) -> None:
    with time_machine.travel(NOON + timedelta(hours=2, minutes=2), tick=False):
        assert paths(history, **query) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"layer": "cellar"},
        {"change": "moved"},
        {"since": "yesterday"},
        {"path": "../x"},
        {"limit": 0},
        {"limit": 201},
        {"cursor": "x"},
        {"by": "x" * 201},
    ],
    ids=str,
)
def test_an_invalid_filter_is_refused(history: Project, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_changes(history.pk, **query)


@pytest.mark.parametrize(
    "query", [{}, {"since": "1d"}, {"path": "f*"}, {"path": "f1*"}, {"by": "ada"}], ids=str
)
def test_changes_are_paged_without_gap_or_repeat(ada: Caller, apollo: Project, query: dict[str, Any]) -> None:
    record_change_batch(caller=ada, items=[item(f"f{n}") for n in range(25)])
    whole = paths(apollo, limit=200, **query)
    found: list[str] = []
    cursor = None
    while True:
        page = list_changes(apollo.pk, limit=7, cursor=cursor, **query)
        found += [row[1] for row in page.rows]
        if not (cursor := page.next):
            break
    assert found == whole
    assert len(found) > 7


def test_pages_of_the_last_hour_keep_the_hour_of_the_first_page(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        record_change_batch(caller=ada, items=[item(f"f{n}") for n in range(3)])
        now.shift(timedelta(minutes=59))
        cursor = list_changes(apollo.pk, limit=2).next
        now.shift(timedelta(minutes=5))
        assert paths(apollo) == []
        assert paths(apollo, cursor=cursor) == ["f0"]


def test_a_long_description_is_truncated_in_lists_and_complete_by_ref(ada: Caller, apollo: Project) -> None:
    made = record_change(caller=ada, path="a", change="created", description="x" * 500)
    assert list_changes(apollo.pk).rows[0][5] == "x" * 200 + "…"
    [item] = call(ada, "get", {"refs": [f"change:{made['id']}"]})["items"]
    assert (item["path"], item["change"], item["by"], len(item["description"])) == (
        "a",
        "created",
        "ada",
        500,
    )


def test_globs_over_many_and_few_files_find_the_same_changes(ada: Caller, apollo: Project) -> None:
    for start in (0, 30):
        record_change_batch(caller=ada, items=[item(f"src/{n:02}.py") for n in range(start, start + 30)])
    record_change(caller=ada, path="docs/x", change="created")
    assert paths(apollo, path="src/*", limit=3) == ["src/59.py", "src/58.py", "src/57.py"]
    assert paths(apollo, path="src/5?.py", limit=3) == ["src/59.py", "src/58.py", "src/57.py"]
    assert len(paths(apollo, path="src/**", limit=200)) == 60
    assert len(paths(apollo, path="**/[34]*", limit=200)) == 20


# -- Files -----------------------------------------------------------------------------------------


def test_files_are_listed_by_path_with_their_last_change(history: Project) -> None:
    assert [list(row[:4]) for row in list_resources(history.pk).rows] == [
        ["docs/read_me.md", "deleted", "ada", "2026-11-21T14:01:00Z"],
        ["src/api/auth.py", "modified", "ben", "2026-11-21T14:00:00Z"],
        ["src/app.py", "created", "ben", "2026-11-21T14:00:00Z"],
    ]


def test_files_are_filtered_and_paged(ada: Caller, apollo: Project) -> None:
    for path in ("a/Z", "a/a", "a/\u00e9", "a_b", "b"):
        record_change(caller=ada, path=path, change="created")
    first = list_resources(apollo.pk, limit=2)
    assert [row[0] for row in first.rows] == ["a/Z", "a/a"]
    rest = list_resources(apollo.pk, limit=10, cursor=first.next)
    assert [row[0] for row in rest.rows] == ["a/\u00e9", "a_b", "b"]
    assert [row[0] for row in list_resources(apollo.pk, path="a/*").rows] == ["a/Z", "a/a", "a/\u00e9"]
    assert [row[0] for row in list_resources(apollo.pk, path="b").rows] == ["b"]


@time_machine.travel(NOON + timedelta(hours=3), tick=False)
def test_a_file_is_opened_by_its_ref(history: Project, ada: Caller) -> None:
    acquire_lease(caller=ada, paths=["src/**"], reason="Rework.")
    refs = ["resource:src/api/auth.py", "resource:./src/app.py", "resource:nothing"]
    answer = call(ada, "get", {"refs": refs})
    auth, app = answer["items"]
    assert answer["missing"] == ["resource:nothing"]
    assert [change["change"] for change in auth["changes"]] == ["modified", "created"]
    assert [lease["by"] for lease in auth["leases"]] == ["ada"]
    assert app["path"] == "src/app.py"


# -- Locks -----------------------------------------------------------------------------------------


def test_another_agents_change_locks_for_a_while(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        record_change(caller=ben, path="a", change="deleted")
        lock = {"locked": True, "by": "ben", "at": "2026-11-21T12:00:00Z", "change": "deleted"}
        assert check_lock(ada, path="./a") == lock
        assert check_lock(ben, path="a") == {"locked": False}
        now.shift(timedelta(seconds=299))
        assert check_lock(ada, path="a")["locked"]
        now.shift(timedelta(seconds=1))
        assert check_lock(ada, path="a") == {"locked": False}
        assert check_lock(ada, path="a", within_seconds=301)["locked"]


def test_an_own_later_change_does_not_hide_a_change_of_another_agent(ada: Caller, ben: Caller) -> None:
    record_change(caller=ben, path="a", change="modified")
    record_change(caller=ada, path="a", change="modified")
    assert check_lock(ada, path="a")["by"] == "ben"
    assert check_lock(ben, path="a")["by"] == "ada"


def test_another_agents_lease_locks_matching_paths(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        acquire_lease(caller=ben, paths=["src/**"], minutes=10)
        lock = {"locked": True, "by": "ben", "at": "2026-11-21T12:00:00Z", "expires": "2026-11-21T12:10:00Z"}
        assert check_lock(ada, path="src/a.py") == lock
        assert check_lock(ben, path="src/a.py") == check_lock(ada, path="docs/a") == {"locked": False}
        now.shift(timedelta(minutes=10))
        assert check_lock(ada, path="src/a.py") == {"locked": False}


def test_a_lease_is_reported_before_an_older_change(ada: Caller, ben: Caller) -> None:
    eve = Caller(project=ada.project, agent="eve")
    acquire_lease(caller=ben, paths=["a"])
    record_change(caller=eve, path="a", change="modified")
    lock = check_lock(ada, path="a")
    assert (lock["by"], "change" in lock, "expires" in lock) == ("ben", False, True)
    record_change(caller=ben, path="a", change="modified")
    assert check_lock(ada, path="a")["change"] == "modified"


@pytest.mark.parametrize("within", [0, 86_401, -1])
def test_within_seconds_is_at_least_1_and_at_most_a_day(ada: Caller, within: int) -> None:
    with pytest.raises(InvalidInput, match="within_seconds"):
        check_lock(ada, path="a", within_seconds=within)


# -- Retention -------------------------------------------------------------------------------------


def test_old_changes_are_removed_and_files_stay(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        record_change_batch(caller=ada, items=[item("a", layer="data"), item("b")])
        now.shift(timedelta(days=7, seconds=1))
        record_change(caller=ada, path="c", change="created", layer="data")
        cleanup.cleanup(apollo.pk)
    stats = Stats(apollo.pk)
    assert (stats.of("change"), stats.of("resource")) == (1, 3)
    assert list(stats.by_layer("change").values()).count(1) == 1
    assert FileChange.objects.in_project(apollo).get().resource.path == "c"
    assert list_resources(apollo.pk).rows[0][:2] == ["a", None]


def test_clear_removes_exactly_the_older_changes(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        for hours in range(4):
            record_change(caller=ada, path=f"f{hours}", change="created")
            now.shift(timedelta(hours=1))
        older = {"changes": "2026-11-21T14:00:00Z"}
        assert cleanup.clear(caller=ada, older_than=older, dry_run=True)["changes"] == 2
        assert cleanup.clear(caller=ada, older_than=older)["changes"] == 2
        assert paths(apollo, since="1d") == ["f3", "f2"]


# -- Another project -------------------------------------------------------------------------------


def test_another_project_sees_no_changes(history: Project, cy: Caller) -> None:
    ids = FileChange.objects.in_project(history).values_list("pk", flat=True)
    refs = [*(f"change:{pk}" for pk in ids), "resource:src/app.py"]
    assert call(cy, "get", {"refs": refs})["items"] == []
    with time_machine.travel(NOON + timedelta(hours=2), tick=False):
        for query in ({}, {"path": "src/app.py"}, {"path": "**"}, {"by": "ada"}, {"change": "created"}):
            assert paths(cy.project, **query) == []
        assert check_lock(cy, path="src/app.py") == {"locked": False}
    assert list_resources(cy.project_id).rows == []


def test_a_refused_batch_item_raises_a_ctxhub_error(ada: Caller) -> None:
    with pytest.raises(CtxhubError):
        record_change_batch(caller=ada, items=[InvalidInput("no")])
