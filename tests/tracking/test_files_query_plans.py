"""Lists of changes, leases and files scan an index in the order of the list."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events import cleanup
from ctxhub.core.hub.overview import count_all
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import Agent
from tests.databases import statements_within_cpu_seconds, take_statistics
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact
from tracking.changes.locks import check_lock
from tracking.changes.queries import count_in_last_hour, list_changes
from tracking.changes.services import record_change_batch
from tracking.files.queries import list_resources
from tracking.leases.queries import count_by_agent, list_leases
from tracking.leases.services import acquire_lease, forget_leases
from tracking.models import FileChange

NEWEST = "tracking_change_newest"
CHANGES: list[tuple[dict[str, Any], str]] = [
    ({}, NEWEST),
    ({"since": "1d"}, NEWEST),
    ({"path": "src/0.py"}, "tracking_change_by_resource"),
    ({"path": "src/0.py", "change": "created"}, "tracking_change_by_resource"),
    ({"path": "src/0.*"}, "tracking_change_by_resource"),
    ({"path": "src/[0-2].py"}, "tracking_change_by_resource"),
    ({"path": "src/**"}, NEWEST),
    ({"by": "ada"}, "tracking_change_by_agent"),
    ({"layer": "data"}, "tracking_change_by_layer"),
    ({"change": "modified"}, "tracking_change_by_kind"),
    ({"by": "ada", "layer": "data"}, "tracking_change_by_(agent|layer)"),
]


@pytest.fixture
def many(ada: Caller, ben: Caller) -> Caller:
    """Two agents' changes of 50 files, and leases most of which have ended."""
    start_compact(FileChange)
    for caller in (ada, ben):
        for _ in range(12):
            record_change_batch(
                caller=caller,
                items=[
                    {
                        "path": f"src/{n}.py",
                        "change": ("created", "modified")[n % 2],
                        "layer": ("data", "business")[n % 3 % 2],
                    }
                    for n in range(50)
                ],
            )
    for n in range(40):
        acquire_lease(caller=ada, paths=[f"lib{n}/**"])
    add_leases(ada, 1_000, ends=timedelta(days=-1))
    plan_by_indexes()
    return ada


def add_leases(caller: Caller, count: int, *, ends: timedelta) -> None:
    agent_id, now = Agent.objects.in_project(caller.project).get(name=caller.agent).pk, clock.now()
    columns = ("project_id", "agent_id", "exclusive", "reason", "created_at", "expires_at")
    row = (caller.project_id, agent_id, True, "", sql.stored_time(now), sql.stored_time(now + ends))
    sql.insert("tracking_lease", columns, [row] * count)


def plans(run: Callable[[], Any], about: str) -> Iterator[str]:
    """The query plan of each statement that `run` executes and that contains `about`: at least one."""
    with CaptureQueriesContext(connection) as captured:
        run()
    found = [query["sql"] for query in captured.captured_queries if about in query["sql"]]
    assert found, captured.captured_queries
    for statement in found:
        yield explained(statement)


def page(
    select: Callable[..., Listing], project_id: int, query: dict[str, Any], *, second: bool
) -> Callable[[], Any]:
    cursor = select(project_id, limit=5, **query).next if second else None

    def run() -> None:
        assert len(select(project_id, limit=5, cursor=cursor, **query).rows) == 5

    return run


@pytest.mark.parametrize("second", [False, True])
def test_changes_scan_an_index_in_their_order(many: Caller, second: bool) -> None:
    for query, index in CHANGES:
        for plan in plans(page(list_changes, many.project_id, query, second=second), "WITH page"):
            assert re.search(rf"\b{index}\b", plan), (query, plan)
            # A glob of few files is a union of branches: each is limited before they are merged.
            assert "*" in str(query) or "[" in str(query) or not sorts_inside(plan), (query, plan)


@pytest.mark.parametrize("second", [False, True])
def test_leases_scan_the_index_of_live_leases(many: Caller, second: bool) -> None:
    for query in ({}, {"by": "ada"}):
        for plan in plans(page(list_leases, many.project_id, query, second=second), "WITH page"):
            assert "tracking_lease_live" in plan, plan
            assert not sorts_inside(plan), plan


@pytest.mark.parametrize("second", [False, True])
def test_files_scan_the_index_of_paths(many: Caller, second: bool) -> None:
    index = "tracking_one_resource_per_path|sqlite_autoindex_tracking_resource_1"
    for query in ({}, {"path": "src/**"}):
        for plan in plans(page(list_resources, many.project_id, query, second=second), "WITH page"):
            # As good where all files match.
            by_folded = "path" in query and "tracking_resource_by_folded" in plan
            assert by_folded or re.search(index, plan), plan
            assert by_folded or not sorts_inside(plan), plan
            assert "tracking_change_by_resource" in plan, plan


def test_queries_of_writes_use_an_index(many: Caller, ben: Caller) -> None:
    project_id = many.project_id
    queries: list[tuple[Callable[[], Any], str, str]] = [
        (
            lambda: acquire_lease(caller=ben, paths=["docs/**"]),
            "CROSS JOIN tracking_leasepath",
            "tracking_lease_live",
        ),
        (lambda: check_lock(ben, path="src/0.py"), "agent.folded IS NULL", "tracking_change_by_resource"),
        (lambda: count_all(project_id), "core_tally", "tracking_lease_live"),
        (lambda: count_by_agent(project_id, ["ada"]), "GROUP BY", "tracking_lease_live"),
        (
            lambda: forget_leases(project_id, clock.now()),
            "SELECT id",
            "tracking_lease_live",
        ),
    ]
    for run, about, index in queries:
        for plan in plans(run, about):
            assert re.search(rf"\b{index}\b", plan), plan


def test_the_oldest_changes_are_found_by_an_index(many: Caller) -> None:
    newest = FileChange.objects.in_project(many.project)[0].at
    with CaptureQueriesContext(connection) as captured:
        for kind in cleanup.retention_rules:
            if kind.plural == "changes":
                assert kind.remove(many.project_id, newest, sparing=True, at_most=3) == 3
    [statement] = [q["sql"] for q in captured.captured_queries if "DELETE FROM tracking_" in q["sql"]]
    assert NEWEST in explained(statement)


def test_layers_are_counted_by_an_index(many: Caller) -> None:
    for plan in plans(lambda: count_in_last_hour(many.project_id), "core_layer"):
        assert "tracking_change_by_layer" in plan, plan


def test_lists_are_fast_with_statistics_of_empty_tables(ada: Caller) -> None:
    """As in a new hub after an import: PostgreSQL then expects one row in each table."""
    take_statistics()
    for start in range(0, 1_500, 50):
        items = [
            {"path": f"src/{n}.py", "change": "modified", "layer": "data"} for n in range(start, start + 50)
        ]
        record_change_batch(caller=ada, items=items)
    add_leases(ada, 1_000, ends=timedelta(hours=1))
    with statements_within_cpu_seconds(2):
        for query in (
            {},
            {"path": "src/**"},
            {"by": "ada"},
            {"layer": "data"},
            {"path": "src/7*"},
            {"since": "1d"},
        ):
            assert len(list_changes(ada.project_id, limit=20, **query).rows) == 20
        assert len(list_resources(ada.project_id, path="src/**").rows) == 20
        assert len(list_leases(ada.project_id).rows) == 20
