"""Dependencies of files: strengths, directions, depth, circles and large neighbourhoods."""

from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from sessions.accesses.dependencies import list_dependencies
from sessions.accesses.services import add_dependency, track_access
from sessions.models import ResourceDependency
from tests.tables import dump_project
from tracking.models import Resource


def depend(caller: Caller, source: str, target: str, type: str = "imports", **more: Any) -> dict[str, Any]:
    return {**add_dependency(caller=caller, source=source, target=target, type=type, **more)}


def chain(caller: Caller, names: str) -> None:
    for source, target in pairwise(names):
        depend(caller, source, target)


def found(caller: Caller, path: str, **query: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in list_dependencies(caller.project_id, path=path, **query).rows]


def steps(caller: Caller, path: str, **query: Any) -> dict[str, int]:
    """The depth of each dependency, by its source and target."""
    return {f"{row[0]}{row[1]}": row[4] for row in found(caller, path, **query)}


def put(project: Project, edges: list[tuple[int, int]]) -> None:
    """Store many dependencies between files named by numbers."""
    now = clock.now()
    names = sorted({n for edge in edges for n in edge})
    files = [Resource(project=project, path=f"{n}", created_at=now) for n in names]
    Resource.unscoped.bulk_create(files)
    ids = {n: file.pk for n, file in zip(names, files, strict=True)}
    ResourceDependency.unscoped.bulk_create(
        ResourceDependency(project=project, source_id=ids[a], target_id=ids[b], type="x") for a, b in edges
    )


@pytest.mark.usefixtures("index_is_kept")
def test_a_dependency_is_made_with_its_files_and_grows(ada: Caller, apollo: Project) -> None:
    first = depend(ada, "./src/a.py", "src/b.py")
    assert first == {
        "source": "src/a.py",
        "target": "src/b.py",
        "type": "imports",
        "strength": 1,
        "result": "created",
    }
    assert depend(ada, "src/a.py", "src/b.py") == {**first, "strength": 2, "result": "updated"}
    assert depend(ada, "src/a.py", "src/b.py", strength=5)["strength"] == 7
    assert depend(ada, "src/a.py", "src/b.py", "tests")["result"] == "created"
    assert Resource.objects.in_project(apollo).count() == 2


def test_a_strength_stays_below_what_is_stored(ada: Caller, apollo: Project) -> None:
    depend(ada, "a", "b")
    ResourceDependency.objects.in_project(apollo).update(strength=2**31 - 5)
    assert depend(ada, "a", "b", strength=10)["strength"] == 2**31 - 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"target": "./a"}, "itself"),
        ({"source": ".."}, "source"),
        ({"target": "/b"}, "target"),
        ({"type": " "}, "type"),
        ({"type": "x" * 101}, "type"),
        ({"strength": 0}, "strength"),
        ({"strength": 1_001}, "strength"),
    ],
    ids=str,
)
def test_bad_input_writes_nothing(ada: Caller, apollo: Project, given: dict[str, Any], words: str) -> None:
    before = dump_project(apollo)
    with pytest.raises(InvalidInput, match=words):
        depend(ada, **{"source": "a", "target": "b", **given})
    assert dump_project(apollo) == before


def test_each_direction(ada: Caller) -> None:
    chain(ada, "abc")
    assert found(ada, "b", direction="outgoing") == [("b", "c", "imports", 1, 1)]
    assert found(ada, "b", direction="Incoming") == [("a", "b", "imports", 1, 1)]
    assert set(found(ada, "b")) == {("a", "b", "imports", 1, 1), ("b", "c", "imports", 1, 1)}


def test_the_depth_counts_steps(ada: Caller) -> None:
    chain(ada, "abcde")
    assert steps(ada, "a") == {"ab": 1}
    assert steps(ada, "a", depth=3) == {"ab": 1, "bc": 2, "cd": 3}
    assert steps(ada, "c", depth=2) == {"cd": 1, "bc": 1, "de": 2, "ab": 2}


def test_the_shortest_way_counts(ada: Caller) -> None:
    chain(ada, "abcd")
    chain(ada, "ad")
    assert steps(ada, "a", depth=9) == {"ab": 1, "ad": 1, "bc": 2, "cd": 3}


def test_siblings_are_no_neighbours(ada: Caller) -> None:
    depend(ada, "a", "shared")
    depend(ada, "b", "shared")
    assert [row[0] for row in found(ada, "a", depth=5)] == ["a"]


def test_a_circle_ends_and_each_dependency_comes_once(ada: Caller) -> None:
    chain(ada, "abca")
    assert steps(ada, "a", depth=100) == {"ab": 1, "ca": 1, "bc": 2}
    assert steps(ada, "a", depth=100, direction="outgoing") == {"ab": 1, "bc": 2, "ca": 3}


def test_an_unknown_path_has_none_and_a_stranger_sees_none(ada: Caller, cy: Caller) -> None:
    chain(ada, "ab")
    assert found(ada, "x") == found(cy, "a") == []


@pytest.mark.parametrize(
    "query",
    [
        {"path": ".."},
        {"direction": "up"},
        {"depth": 0},
        {"depth": 101},
        {"limit": 0},
        {"limit": 1_001},
        {"cursor": "x"},
    ],
    ids=str,
)
def test_a_bad_query_is_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        found(ada, **{"path": "a", **query})


def test_a_bad_direction_names_the_good_ones(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as raised:
        found(ada, "a", direction="up")
    assert raised.value.details["allowed"] == ["both", "incoming", "outgoing"]


def test_pages_follow_one_another(ada: Caller) -> None:
    for target in "bcd":
        depend(ada, "a", target)
    first = list_dependencies(ada.project_id, path="a", limit=2)
    rest = list_dependencies(ada.project_id, path="a", limit=2, cursor=first.next)
    assert [row[1] for row in (*first.rows, *rest.rows)] == ["b", "c", "d"]
    assert (first.extra, rest.next) == ({"total": 3}, None)


@pytest.mark.parametrize("direction", ["outgoing", "incoming"])
def test_a_long_chain_ends_at_its_depth(ada: Caller, apollo: Project, direction: str) -> None:
    put(apollo, [(n, n + 1) for n in range(10_000)])
    rows = found(ada, "5000", direction=direction, depth=100)
    assert [row[4] for row in rows] == list(range(1, 101))


def test_of_a_large_fan_1000_are_listed_and_more_is_told(ada: Caller, apollo: Project) -> None:
    put(apollo, [(0, n) for n in range(1, 10_001)])
    for depth in (1, 100):
        listing = list_dependencies(apollo.pk, path="0", depth=depth)
        assert (len(listing.rows), listing.extra) == (1_000, {"total": 1_000, "more": True})


def test_a_dense_neighbourhood_ends(ada: Caller, apollo: Project) -> None:
    put(apollo, [(a, b) for a in range(60) for b in range(60) if a != b])
    listing = list_dependencies(apollo.pk, path="0", direction="outgoing", depth=100)
    assert listing.extra == {"total": 1_000, "more": True}
    assert [row[4] for row in listing.rows] == sorted(row[4] for row in listing.rows)


def test_a_circle_of_200_ends(ada: Caller, apollo: Project) -> None:
    put(apollo, [(n, (n + 1) % 200) for n in range(200)])
    rows = found(ada, "0", depth=100)
    assert len(rows) == 200
    assert max(row[4] for row in rows) == 100


def test_a_large_neighbourhood_takes_as_many_queries_as_a_small_one(ada: Caller, apollo: Project) -> None:
    put(apollo, [(n, n + 1) for n in range(50)] + [(0, n) for n in range(60, 90)])

    def queries(**query: Any) -> int:
        with CaptureQueriesContext(connection) as captured:
            found(ada, **query)
        return len(captured)

    assert queries(path="49", depth=100) == queries(path="0", depth=100) <= 6


def test_dependencies_make_a_file_important(ada: Caller) -> None:
    depend(ada, "a.py", "b.py", strength=3)
    depend(ada, "c.py", "b.py", "tests", strength=4)
    assert track_access(caller=ada, path="b.py", access="viewed")["importance"] == 47
    [item] = call(ada, "get", {"refs": ["resource:b.py"]})["items"]
    assert item["importance_parts"]["dependencies"] == 7
    [row] = call(ada, "session", {"action": "resources", "format": "objects"})["items"]
    assert row["importance"] == 47
