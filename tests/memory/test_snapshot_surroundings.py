"""What is drawn around a snapshot: its causes and effects, up to three steps away."""

from itertools import combinations

import pytest

from ctxhub.console.graphs.layout import Box
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from memory.models import Snapshot
from memory.snapshots.cause_graph import causes_of
from memory.snapshots.causes import CAUSED_BY, DEPENDS_ON
from memory.snapshots.graph import MOST_DRAWN, Surroundings, Twig, grow, ids_of, read_surroundings
from tests.memory.snapshots import depend, link, save, write, write_chain


def around(caller: Caller, row_id: int) -> Surroundings:
    return read_surroundings(caller.project_id, row_id)


def nested(twigs: list[Twig]) -> dict[int, dict]:  # type: ignore[type-arg]
    return {twig.id: nested([*twig.children]) for twig in twigs}


def overlapping(boxes: list[Box]) -> list[tuple[str, str]]:
    return [
        (a.node.ref, b.node.ref)
        for a, b in combinations(boxes, 2)
        if a.x < b.right and b.x < a.right and a.y < b.y + b.height and b.y < a.y + a.height
    ]


# -- The choice ------------------------------------------------------------------------------------


def test_causes_come_before_dependencies() -> None:
    twigs = grow(1, {(1, DEPENDS_ON): [2, 3], (1, CAUSED_BY): [4]})
    assert [(twig.id, twig.link) for twig in twigs] == [(4, CAUSED_BY), (2, DEPENDS_ON), (3, DEPENDS_ON)]


def test_a_snapshot_is_drawn_once_by_the_fewest_steps() -> None:
    twigs = grow(1, {(1, CAUSED_BY): [2], (2, CAUSED_BY): [3], (1, DEPENDS_ON): [3], (3, CAUSED_BY): [1]})
    assert nested(twigs) == {2: {}, 3: {}}


def test_a_tree_is_three_levels_high() -> None:
    assert nested(grow(1, {(n, CAUSED_BY): [n + 1] for n in range(1, 9)})) == {2: {3: {4: {}}}}


def test_a_tree_has_a_bounded_number_of_snapshots() -> None:
    ways = {(n, CAUSED_BY): [10 * n + k for k in range(10)] for n in range(1, 200)}
    assert len([*ids_of(grow(1, ways))]) == MOST_DRAWN


def test_what_is_placed_elsewhere_is_left_out() -> None:
    assert grow(1, {(1, CAUSED_BY): [2]}, [2]) == []


# -- Reading ---------------------------------------------------------------------------------------


def test_causes_and_effects_stand_on_their_sides(ada: Caller) -> None:
    ids = write_chain(ada, 9)
    found = around(ada, ids[4])
    assert nested([*found.causes]) == {ids[3]: {ids[2]: {ids[1]: {}}}}
    assert nested([*found.effects]) == {ids[5]: {ids[6]: {ids[7]: {}}}}
    assert (found.nearby[ids[1]].more, found.nearby[ids[7]].more, found.left_out) == (1, 1, 0)


def test_the_lists_name_cause_dependencies_and_dependents(ada: Caller) -> None:
    cause, needed, own, effect, dependent = write(ada, 5)
    link([own, effect], [cause, own])
    depend(ada, [(own, needed), (dependent, own), (effect, own)])
    found = around(ada, own)
    assert (found.cause, found.dependencies, found.dependents) == (cause, [needed], [effect, dependent])
    assert found.dependent_count == 2


def test_a_large_fan_is_counted_and_cut(ada: Caller) -> None:
    hub, *others = write(ada, 301)
    link(others, [hub] * 300)
    found = around(ada, hub)
    assert (len(found.effects), found.left_out) == (8, 292)
    assert (len(found.dependents), found.dependent_count) == (20, 300)


def test_what_a_drawn_effect_led_to_is_counted_exactly(ada: Caller) -> None:
    own, hub, *others = write(ada, 302)
    link([hub, *others], [own, *[hub] * 300])
    found = around(ada, own)
    assert found.nearby[hub].more == 300 - 4


def test_links_beside_the_trees_are_crossing(ada: Caller) -> None:
    first, second, own = write(ada, 3)
    link([second, own], [first, second])
    depend(ada, [(own, first)])
    found = around(ada, own)
    assert nested([*found.causes]) == {second: {}, first: {}}
    assert found.crossing == [(second, first, CAUSED_BY)]


def test_a_circle_is_drawn_once(ada: Caller) -> None:
    ids = write(ada, 3)
    link(ids, [ids[1], ids[2], ids[0]])
    found = around(ada, ids[0])
    assert {*ids_of(found.causes)} == {ids[1], ids[2]}
    assert not found.effects
    assert found.crossing == [(ids[2], ids[0], CAUSED_BY)]


def test_a_snapshot_alone_has_nothing_around_it(ada: Caller) -> None:
    found = around(ada, save(ada))
    assert (found.causes, found.effects, found.cause, found.dependents) == ([], [], None, [])


@pytest.mark.parametrize("row_id", [0, 10**6])
def test_an_unknown_snapshot_is_not_found(row_id: int, ada: Caller) -> None:
    with pytest.raises(NotFound):
        around(ada, row_id)


def test_a_snapshot_of_another_project_is_not_found(ada: Caller, cy: Caller) -> None:
    with pytest.raises(NotFound):
        around(cy, save(ada))


# -- Drawing ---------------------------------------------------------------------------------------


def test_boxes_of_three_levels_do_not_overlap(ada: Caller) -> None:
    ids = write(ada, 60)
    link(ids[1:], [ids[n // 3] for n in range(59)])
    depend(ada, [(ids[n], ids[n - 5]) for n in range(6, 60, 4)])
    drawings = causes_of(Snapshot.unscoped.get(pk=ids[5])).drawings
    assert [drawing.name for drawing in drawings] == ["wide", "tall"]
    for drawing in drawings:
        assert len(drawing.boxes) > 10
        assert overlapping(list(drawing.boxes)) == []
        assert min(box.x for box in drawing.boxes) >= drawing.left
        assert max(box.right for box in drawing.boxes) <= drawing.left + drawing.width
        assert max(box.y + box.height for box in drawing.boxes) <= drawing.height


def test_every_line_leads_from_a_cause_to_its_effect(ada: Caller) -> None:
    cause, needed, own = write(ada, 3)
    link([own], [cause])
    depend(ada, [(own, needed)])
    wide = causes_of(Snapshot.unscoped.get(pk=own)).drawings[0]
    links = [line.tie.strongest for line in wide.lines]
    assert [(one.source, one.words, one.target) for one in links] == [
        (f"snapshot:{cause}", "led to", f"snapshot:{own}"),
        (f"snapshot:{needed}", "needed by", f"snapshot:{own}"),
    ]
    assert [len(line.arrows) for line in wide.lines] == [1, 1]
