"""What led to a snapshot, and what rests on it: order, limits, circles and time."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.toolbox.dispatch import call
from memory.snapshots.graph import list_chain, list_impact
from memory.snapshots.services import delete_snapshot
from tests.databases import take_statistics
from tests.memory.snapshots import depend, link, save, write, write_chain
from tests.timing import cpu_seconds_of

LINKS = ("id", "depth", "link")


def walk(caller: Caller, action: str, snapshot_id: int) -> list[tuple[Any, ...]]:
    listing = (list_chain if action == "chain" else list_impact)(caller.project_id, snapshot_id)
    return [tuple(row[name] for name in LINKS) for row in listing.objects()]


def cpu_milliseconds(caller: Caller, action: str, snapshot_id: int) -> float:
    """Of the fastest of five walks, with those of the database."""
    return 1_000 * min(cpu_seconds_of(lambda: walk(caller, action, snapshot_id)) for _ in range(5))


def is_cut(caller: Caller, action: str, snapshot_id: int) -> bool:
    return "more" in call(caller, "snapshot", {"action": action, "id": snapshot_id})


# -- Order -----------------------------------------------------------------------------------------


def test_a_chain_leads_from_its_root_at_depth_0_to_the_snapshot(ada: Caller) -> None:
    root = save(ada)
    middle = save(ada, caused_by=root)
    last = save(ada, caused_by=middle)
    assert walk(ada, "chain", last) == [(root, 0, "caused_by"), (middle, 1, "caused_by"), (last, 2, None)]
    assert walk(ada, "chain", root) == [(root, 0, None)]


def test_impact_is_what_rests_on_a_snapshot_without_itself(ada: Caller) -> None:
    root = save(ada)
    middle = save(ada, caused_by=root)
    last = save(ada, caused_by=middle)
    assert walk(ada, "impact", root) == [(middle, 1, "caused_by"), (last, 2, "caused_by")]
    assert walk(ada, "impact", last) == []


def test_dependencies_are_walked_as_well_each_once_with_the_fewest_steps(ada: Caller) -> None:
    base = save(ada)
    left, right = save(ada, caused_by=base), save(ada, dependencies=[base])
    top = save(ada, dependencies=[left, right])
    assert walk(ada, "chain", top) == [
        (base, 0, "caused_by"),
        (left, 1, "depends_on"),
        (right, 1, "depends_on"),
        (top, 2, None),
    ]
    assert walk(ada, "impact", base) == [
        (left, 1, "caused_by"),
        (right, 1, "depends_on"),
        (top, 2, "depends_on"),
    ]


def test_a_dependency_is_no_short_cut_along_causes(ada: Caller) -> None:
    root = save(ada)
    middle = save(ada, caused_by=root)
    last = save(ada, caused_by=middle, dependencies=[root])
    assert walk(ada, "chain", last) == [(root, 0, "caused_by"), (middle, 1, "caused_by"), (last, 2, None)]
    assert walk(ada, "impact", root) == [(middle, 1, "caused_by"), (last, 2, "caused_by")]


def test_automatic_dependencies_leave_a_chain_its_depths(ada: Caller) -> None:
    ids = [save(ada, dependencies=None)]
    for _ in range(7):
        ids.append(save(ada, caused_by=ids[-1], dependencies=None))
    assert walk(ada, "chain", ids[-1])[:-1] == [(row_id, n, "caused_by") for n, row_id in enumerate(ids[:-1])]


def test_a_chain_ends_where_a_cause_was_deleted(ada: Caller) -> None:
    root = save(ada)
    middle = save(ada, caused_by=root)
    last = save(ada, caused_by=middle)
    delete_snapshot(caller=ada, snapshot_id=root)
    assert walk(ada, "chain", last) == [(middle, 0, "caused_by"), (last, 1, None)]


def test_rows_have_an_action_a_summary_and_a_time(ada: Caller) -> None:
    root = save(ada, "x. " * 200, action_type="research", summary="y" * 300)
    [row] = list_chain(ada.project_id, root).objects()
    assert (row["action_type"], row["summary"]) == ("research", "y" * 200 + "…")
    assert row["at"] == call(ada, "snapshot", {"action": "get", "id": root})["at"]


@pytest.mark.parametrize("snapshot_id", [0, -1, 999_999, 2**63])
@pytest.mark.parametrize("walk_", [list_chain, list_impact])
def test_an_unknown_snapshot_has_neither(ada: Caller, snapshot_id: int, walk_: Any) -> None:
    with pytest.raises(NotFound, match="There is no snapshot"):
        walk_(ada.project_id, snapshot_id)


def test_another_project_sees_neither(ada: Caller, cy: Caller) -> None:
    root = save(ada)
    for walk_ in (list_chain, list_impact):
        with pytest.raises(NotFound):
            walk_(cy.project_id, root)


# -- Limits ----------------------------------------------------------------------------------------


def test_a_chain_of_1000_snapshots_begins_with_its_root(ada: Caller) -> None:
    ids = write_chain(ada, 1_001)
    found = walk(ada, "chain", ids[999])
    assert [row[:2] for row in found] == [(row_id, n) for n, row_id in enumerate(ids[:1_000])]
    assert not is_cut(ada, "chain", ids[999])
    assert [row[0] for row in walk(ada, "chain", ids[1_000])] == ids[1:]
    assert is_cut(ada, "chain", ids[1_000])


def test_impact_goes_1000_snapshots_on(ada: Caller) -> None:
    ids = write_chain(ada, 1_002)
    assert [row[:2] for row in walk(ada, "impact", ids[1])] == [(ids[n], n - 1) for n in range(2, 1_002)]
    assert not is_cut(ada, "impact", ids[1])
    assert [row[0] for row in walk(ada, "impact", ids[0])] == ids[1:1_001]
    assert is_cut(ada, "impact", ids[0])


@pytest.mark.parametrize(("count", "cut"), [(1_000, False), (1_001, True)])
def test_at_most_1000_rows_are_listed(ada: Caller, count: int, cut: bool) -> None:
    root, *effects = write(ada, count + 1)
    link(effects, [root] * count)
    assert len(walk(ada, "impact", root)) == 1_000
    assert is_cut(ada, "impact", root) is cut


def test_the_cause_line_is_shown_beside_ever_so_many_dependencies(ada: Caller) -> None:
    ids = write_chain(ada, 60)
    others = write(ada, 1_200)
    depend(ada, [(ids[-1 - n // 50], other) for n, other in enumerate(others)])
    found = walk(ada, "chain", ids[-1])
    assert len(found) == 1_000
    assert is_cut(ada, "chain", ids[-1])
    depths = {row_id: depth for row_id, depth, _ in found}
    shown = [row_id for row_id in ids if row_id in depths]
    assert shown == ids[-len(shown) :]


# -- Circles and time ------------------------------------------------------------------------------


def test_a_circle_of_200_ends(ada: Caller) -> None:
    ids = write_chain(ada, 200)
    link(ids[:1], ids[-1:])
    for action in ("chain", "impact"):
        found = walk(ada, action, ids[5])
        assert len({row[0] for row in found}) == len(found) == (200 if action == "chain" else 199)
        assert cpu_milliseconds(ada, action, ids[5]) < 600
        assert not is_cut(ada, action, ids[5])


def test_a_snapshot_that_causes_itself_ends(ada: Caller) -> None:
    row_id = save(ada)
    link([row_id], [row_id])
    depend(ada, [(row_id, row_id)])
    assert walk(ada, "chain", row_id) == [(row_id, 0, None)]
    assert walk(ada, "impact", row_id) == []


def test_a_chain_of_10000_is_walked_in_time(ada: Caller) -> None:
    ids = write_chain(ada, 10_000)
    take_statistics()
    assert cpu_milliseconds(ada, "chain", ids[-1]) < 600
    assert cpu_milliseconds(ada, "impact", ids[0]) < 600
    assert is_cut(ada, "chain", ids[-1])
    assert is_cut(ada, "impact", ids[0])


def test_a_fan_of_10000_is_walked_in_time(ada: Caller) -> None:
    root, *others = write(ada, 10_001)
    link(others[:5_000], [root] * 5_000)
    depend(ada, [(other, root) for other in others[5_000:]])
    take_statistics()
    assert cpu_milliseconds(ada, "impact", root) < 600
    assert cpu_milliseconds(ada, "chain", others[-1]) < 300
    assert is_cut(ada, "impact", root)


def test_a_web_of_dependencies_is_walked_in_time(ada: Caller) -> None:
    ids = write_chain(ada, 3_000)
    depend(ada, [(ids[n], ids[n - back]) for n in range(6, 3_000) for back in range(2, 7)])
    take_statistics()
    assert cpu_milliseconds(ada, "chain", ids[-1]) < 300
    assert cpu_milliseconds(ada, "impact", ids[0]) < 300
