"""The graph around an object: its tree, and the positions of boxes and lines in its drawings."""

from itertools import combinations

import pytest

from ctxhub.console.graphs.layout import Box, Drawing, tall
from ctxhub.console.graphs.layout import wide as wide_with_sides
from ctxhub.console.graphs.trees import Graph, GraphLink, Node
from memory.relationships.graph import FAR_DRAWN, NEAR_DRAWN, graph_of, sides_of


def link(text: str, strength: int = 50, *, suggested: bool = False) -> GraphLink:
    """`a blocks b`."""
    source, relation, target = text.split()
    return GraphLink(source, target, relation, strength, suggested)


def graph(*links: GraphLink) -> Graph:
    """The graph around `m`."""
    refs = {"m"} | {end for each in links for end in (each.source, each.target)}
    return graph_of("m", {ref: Node(ref, f"Title of {ref}", "note", "", f"/{ref}/") for ref in refs}, links)


def wide(graph: Graph) -> Drawing:
    return wide_with_sides(graph, *sides_of(graph))


def tree(of: Graph) -> dict[str, list[str]]:
    return {branch.node.ref: [child.node.ref for child in branch.children] for branch in of.branches}


def overlapping(boxes: list[Box]) -> list[tuple[str, str]]:
    return [
        (a.node.ref, b.node.ref)
        for a, b in combinations(boxes, 2)
        if a.x < b.right and b.x < a.right and a.y < b.y + b.height and b.y < a.y + a.height
    ]


def columns(drawing: Drawing) -> dict[str, float]:
    """The side of each box: -1 left of the middle, 0 in it, 1 right of it."""
    return {box.node.ref: box.x / abs(box.x or 1) for box in drawing.boxes}


# -- The tree --------------------------------------------------------------------------------------


def test_far_neighbours_are_children_of_near_ones() -> None:
    assert tree(graph(link("m includes a"), link("b blocks a", 10), link("a related c", 90))) == {
        "a": ["c", "b"]
    }


def test_an_object_appears_once_under_its_strongest_link() -> None:
    found = graph(
        link("m includes a"), link("m includes b"), link("a includes x", 10), link("b includes x", 90)
    )
    assert tree(found) == {"a": [], "b": ["x"]}
    assert [tie.strongest.source for tie in found.crossing] == ["a"]


def test_all_links_between_two_objects_form_one_tie_strongest_first() -> None:
    [branch] = graph(link("m includes a", 20), link("a blocks m", 70)).branches
    assert [each.relation for each in branch.tie.links] == ["blocks", "includes"]
    assert (branch.tie.leads_to("m"), branch.tie.leads_to("a")) == (True, True)


def test_suggested_links_come_after_stated_ones() -> None:
    found = graph(link("m related a", 99, suggested=True), link("m related b", 1))
    assert list(tree(found)) == ["b", "a"]
    assert [branch.tie.is_suggested for branch in found.branches] == [False, True]


def test_the_strongest_are_drawn_and_the_others_counted() -> None:
    found = graph(*(link(f"m related n{n}", n) for n in range(NEAR_DRAWN + 3)))
    assert (len(found.branches), found.left_out) == (NEAR_DRAWN, 3)
    assert found.branches[0].node.ref == f"n{NEAR_DRAWN + 2}"


def test_omitted_children_are_counted_at_their_neighbour() -> None:
    found = graph(link("m related a"), *(link(f"a includes f{n}", n) for n in range(FAR_DRAWN + 4)))
    [branch] = found.branches
    assert (len(branch.children), branch.more) == (FAR_DRAWN, 4)


def test_a_cycle_ends() -> None:
    found = graph(link("m depends_on a"), link("a depends_on b"), link("b depends_on m"))
    assert tree(found) == {"a": [], "b": []}
    assert len(found.crossing) == 1


# -- Drawings --------------------------------------------------------------------------------------


def test_incoming_links_are_left_and_outgoing_ones_right() -> None:
    found = columns(wide(graph(link("a blocks m"), link("m depends_on b"), link("b includes c"))))
    assert found == {"m": 0, "a": -1, "b": 1, "c": 1}


def test_a_single_neighbour_is_on_the_side_of_its_direction() -> None:
    assert columns(wide(graph(link("a blocks m"))))["a"] == -1
    assert columns(wide(graph(link("m blocks a"))))["a"] == 1


def test_balance_has_priority_over_direction() -> None:
    found = columns(wide(graph(*(link(f"m includes n{n}") for n in range(6)))))
    assert sorted(found.values()) == [-1, -1, -1, 0, 1, 1, 1]


@pytest.mark.parametrize("near", [0, 1, 2, 5, 12])
def test_boxes_do_not_overlap_or_leave_the_drawing(near: int) -> None:
    links = [link(f"m includes n{n}" if n % 3 else f"n{n} blocks m", n) for n in range(near)]
    links += [link(f"n{n} references f{n}{k}", k) for n in range(near) for k in range(n % 5)]
    for drawing in (wide(graph(*links)), tall(graph(*links))):
        boxes = list(drawing.boxes)
        assert overlapping(boxes) == []
        assert min(box.y for box in boxes) >= 0
        assert max(box.y + box.height for box in boxes) <= drawing.height
        assert min(box.x for box in boxes) >= drawing.left
        assert max(box.right for box in boxes) <= drawing.left + drawing.width


def test_the_width_of_a_line_shows_the_strength() -> None:
    lines = wide(graph(link("m related a", 0), link("m related b", 100))).lines
    assert sorted(line.width for line in lines) == [1, 5]


def test_each_end_that_is_a_target_has_an_arrow() -> None:
    for draw in (wide, tall):
        [one] = draw(graph(link("m blocks a"))).lines
        [both] = draw(graph(link("m blocks a"), link("a blocks m", 10))).lines
        assert (len(one.arrows), len(both.arrows)) == (1, 2)
        assert both.strength == "50 +1"
