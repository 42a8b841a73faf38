"""What is around a thing, as a tree; and where the boxes and lines of its drawings stand."""

from itertools import combinations

import pytest

from memory.memories.admin.relationship_graph import FAR_DRAWN, NEAR_DRAWN, Graph, Link, Node, graph_of
from memory.memories.admin.relationship_layout import Box, Drawing, tall, wide


def link(said: str, strength: int = 50, *, suggested: bool = False) -> Link:
    """`a blocks b`."""
    source, relation, target = said.split()
    return Link(source, target, relation, strength, suggested)


def graph(*links: Link) -> Graph:
    """What is around `m`."""
    refs = {"m"} | {end for each in links for end in (each.source, each.target)}
    return graph_of("m", {ref: Node(ref, f"Title of {ref}", "note", "", f"/{ref}/") for ref in refs}, links)


def tree(of: Graph) -> dict[str, list[str]]:
    return {branch.node.ref: [child.node.ref for child in branch.children] for branch in of.branches}


def overlapping(boxes: list[Box]) -> list[tuple[str, str]]:
    return [
        (a.node.ref, b.node.ref)
        for a, b in combinations(boxes, 2)
        if a.x < b.right and b.x < a.right and a.y < b.y + b.height and b.y < a.y + a.height
    ]


def columns(drawing: Drawing) -> dict[str, float]:
    """Left of the middle, in it, or right of it."""
    return {box.node.ref: box.x / abs(box.x or 1) for box in drawing.boxes}


# -- The tree --------------------------------------------------------------------------------------


def test_what_hangs_on_a_neighbour_stands_behind_it() -> None:
    assert tree(graph(link("m includes a"), link("b blocks a", 10), link("a related c", 90))) == {
        "a": ["c", "b"]
    }


def test_a_thing_stands_in_it_once_where_it_is_tied_strongest() -> None:
    found = graph(
        link("m includes a"), link("m includes b"), link("a includes x", 10), link("b includes x", 90)
    )
    assert tree(found) == {"a": [], "b": ["x"]}
    assert [tie.strongest.source for tie in found.crossing] == ["a"]


def test_all_that_is_said_of_two_things_is_one_tie_the_strongest_first() -> None:
    [branch] = graph(link("m includes a", 20), link("a blocks m", 70)).branches
    assert [each.relation for each in branch.tie.links] == ["blocks", "includes"]
    assert (branch.tie.leads_to("m"), branch.tie.leads_to("a")) == (True, True)


def test_what_is_suggested_stands_behind_what_is_said() -> None:
    found = graph(link("m related a", 99, suggested=True), link("m related b", 1))
    assert list(tree(found)) == ["b", "a"]
    assert [branch.tie.is_suggested for branch in found.branches] == [False, True]


def test_the_strongest_are_drawn_and_the_others_counted() -> None:
    found = graph(*(link(f"m related n{n}", n) for n in range(NEAR_DRAWN + 3)))
    assert (len(found.branches), found.left_out) == (NEAR_DRAWN, 3)
    assert found.branches[0].node.ref == f"n{NEAR_DRAWN + 2}"


def test_what_is_left_out_behind_a_neighbour_is_counted_there() -> None:
    found = graph(link("m related a"), *(link(f"a includes f{n}", n) for n in range(FAR_DRAWN + 4)))
    [branch] = found.branches
    assert (len(branch.children), branch.more) == (FAR_DRAWN, 4)


def test_a_circle_ends() -> None:
    found = graph(link("m depends_on a"), link("a depends_on b"), link("b depends_on m"))
    assert tree(found) == {"a": [], "b": []}
    assert len(found.crossing) == 1


# -- To both sides ---------------------------------------------------------------------------------


def test_what_leads_to_it_stands_left_and_what_it_leads_to_right() -> None:
    found = columns(wide(graph(link("a blocks m"), link("m depends_on b"), link("b includes c"))))
    assert found == {"m": 0, "a": -1, "b": 1, "c": 1}


def test_a_single_neighbour_stands_where_it_belongs() -> None:
    assert columns(wide(graph(link("a blocks m"))))["a"] == -1
    assert columns(wide(graph(link("m blocks a"))))["a"] == 1


def test_balance_goes_before_direction() -> None:
    found = columns(wide(graph(*(link(f"m includes n{n}") for n in range(6)))))
    assert sorted(found.values()) == [-1, -1, -1, 0, 1, 1, 1]


@pytest.mark.parametrize("near", [0, 1, 2, 5, 12])
def test_no_box_lies_on_another_or_outside(near: int) -> None:
    links = [link(f"m includes n{n}" if n % 3 else f"n{n} blocks m", n) for n in range(near)]
    links += [link(f"n{n} references f{n}{k}", k) for n in range(near) for k in range(n % 5)]
    for drawing in (wide(graph(*links)), tall(graph(*links))):
        boxes = list(drawing.boxes)
        assert overlapping(boxes) == []
        assert min(box.y for box in boxes) >= 0
        assert max(box.y + box.height for box in boxes) <= drawing.height
        assert min(box.x for box in boxes) >= drawing.left
        assert max(box.right for box in boxes) <= drawing.left + drawing.width


def test_a_line_is_as_wide_as_its_tie_is_strong() -> None:
    lines = wide(graph(link("m related a", 0), link("m related b", 100))).lines
    assert sorted(line.width for line in lines) == [1, 5]


def test_an_arrow_stands_at_each_end_that_something_leads_to() -> None:
    for draw in (wide, tall):
        [one] = draw(graph(link("m blocks a"))).lines
        [both] = draw(graph(link("m blocks a"), link("a blocks m", 10))).lines
        assert (len(one.arrows), len(both.arrows)) == (1, 2)
        assert both.strength == "50 +1"
