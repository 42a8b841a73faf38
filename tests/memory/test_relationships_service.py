"""Relationship services: creating, deleting, the neighbourhood of an object, suggestions."""

from typing import Any

import pytest

from ctxhub.core.hub.refs import ObjectKey
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event, Project
from memory.constraints.services import add_constraint
from memory.contexts.services import delete_context
from memory.decisions.services import delete_decision, set_decision
from memory.memories.services import add_memory, delete_memory
from memory.models import Constraint, Decision, Relation, Relationship
from memory.relationships import queries
from memory.relationships.queries import find_neighbourhood, get_ends, suggest_relationships
from memory.relationships.rows import delete_edges_of
from memory.relationships.services import find_relationships, relate, unrelate

pytestmark = pytest.mark.usefixtures("index_is_kept")


def add(caller: Caller, title: str, content: str = "x", **rest: Any) -> int:
    return add_memory(caller=caller, title=title, content=content, **rest)["id"]


def edges(project: Project) -> set[tuple[str, str, str, int]]:
    rows = Relationship.objects.in_project(project)
    return {(row.source, row.target, row.get_relation_display(), row.strength) for row in rows}


def events(project: Project) -> list[tuple[str, str]]:
    found = Event.objects.in_project(project).filter(noun="relationship").order_by("pk")
    return [(event.verb, event.data["note"]) for event in found]


# -- Creating --------------------------------------------------------------------------------------


def test_relate_stores_a_relationship(ada: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    answer = relate(caller=ada, source=one, target=str(other))
    assert answer == {
        "source": one,
        "target": other,
        "relation": "related",
        "strength": 50,
        "result": "created",
    }
    assert edges(apollo) == {(f"memory:{one}", f"memory:{other}", "related", 50)}
    assert events(apollo) == [("created", f"memory:{one} related memory:{other}, 50")]


def test_any_object_can_be_related_by_its_ref(ada: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    rule = add_constraint(caller=ada, category="security", text="Ask for a token.")["id"]
    answer = relate(caller=ada, source="decision:api/auth", target=f"constraint:{rule}", relation="blocks")
    assert (answer["source"], answer["target"]) == ("decision:api/auth", f"constraint:{rule}")
    assert answer["relation"] == "blocks"


def test_relating_again_updates_the_strength(ada: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    arguments: dict[str, Any] = {"caller": ada, "source": one, "target": other, "relation": 4}
    results = [relate(**arguments, strength=strength)["result"] for strength in (50, 50, 90)]
    assert results == ["created", "unchanged", "updated"]
    assert edges(apollo) == {(f"memory:{one}", f"memory:{other}", "depends_on", 90)}
    assert [verb for verb, _ in events(apollo)] == ["created", "updated"]


def test_another_relation_or_direction_is_a_new_relationship(ada: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    for source, target, relation in (
        (one, other, "related"),
        (one, other, "blocks"),
        (other, one, "related"),
    ):
        assert relate(caller=ada, source=source, target=target, relation=relation)["result"] == "created"
    assert len(edges(apollo)) == 3


def test_an_object_cannot_be_related_to_itself(ada: Caller) -> None:
    one = add(ada, "one")
    with pytest.raises(InvalidInput, match="itself"):
        relate(caller=ada, source=one, target=f"memory:{one}")


@pytest.mark.parametrize(
    "ref", [999999999, "999999999", "memory:999999999", "decision:none", "memory:x", "0", str(10**30)]
)
def test_an_unknown_end_is_not_found(ada: Caller, apollo: Project, ref: int | str) -> None:
    one = add(ada, "one")
    for source, target in ((one, ref), (ref, one)):
        with pytest.raises(NotFound):
            relate(caller=ada, source=source, target=target)
        with pytest.raises(NotFound):
            unrelate(caller=ada, source=source, target=target)
    assert not edges(apollo)


@pytest.mark.parametrize(
    "arguments",
    [
        {"target": ""},
        {"target": "-4"},
        {"target": "nothing"},
        {"target": "agent:ada"},
        {"target": "template:deprecation"},
        {"target": "memory:a\x00b"},
        {"relation": "likes"},
        {"relation": 6},
        {"strength": -1},
        {"strength": 101},
    ],
)
def test_invalid_arguments_of_relate_are_refused(
    ada: Caller, apollo: Project, arguments: dict[str, Any]
) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    with pytest.raises(InvalidInput):
        relate(caller=ada, **{"source": one, "target": other, **arguments})
    assert not edges(apollo)


def test_another_projects_objects_cannot_be_related(ada: Caller, cy: Caller) -> None:
    theirs, own = add(ada, "theirs"), add(cy, "own")
    with pytest.raises(NotFound):
        relate(caller=cy, source=own, target=theirs)


# -- Deleting --------------------------------------------------------------------------------------


def test_one_relation_is_deleted(ada: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    for relation in ("related", "blocks"):
        relate(caller=ada, source=one, target=other, relation=relation)
    assert unrelate(caller=ada, source=one, target=other, relation="blocks") == {"deleted": 1}
    assert edges(apollo) == {(f"memory:{one}", f"memory:{other}", "related", 50)}
    assert events(apollo)[-1] == ("deleted", f"memory:{one} blocks memory:{other}, 50")


def test_all_relations_in_one_direction_are_deleted(ada: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    for source, target, relation in (
        (one, other, "related"),
        (one, other, "blocks"),
        (other, one, "related"),
    ):
        relate(caller=ada, source=source, target=target, relation=relation)
    assert unrelate(caller=ada, source=one, target=other) == {"deleted": 2}
    assert unrelate(caller=ada, source=one, target=other) == {"deleted": 0}
    assert edges(apollo) == {(f"memory:{other}", f"memory:{one}", "related", 50)}
    assert [verb for verb, _ in events(apollo)] == ["created"] * 3 + ["deleted"] * 2


def test_deleting_either_end_deletes_the_relationship(ada: Caller, apollo: Project) -> None:
    one, two, three = (add(ada, title) for title in ("one", "two", "three"))
    set_decision(caller=ada, key="k", value="v")
    for source, target in ((one, two), (two, three), (three, "decision:k"), ("decision:k", one)):
        relate(caller=ada, source=source, target=target)
    delete_memory(caller=ada, memory_id=two)
    decision = f"decision:{Decision.objects.in_project(apollo).get(key='k').pk}"
    assert {(source, target) for source, target, *_ in edges(apollo)} == {
        (f"memory:{three}", decision),
        (decision, f"memory:{one}"),
    }
    delete_decision(caller=ada, key="k")
    assert not edges(apollo)


def test_deleting_a_context_or_an_end_by_the_orm_deletes_relationships(ada: Caller, apollo: Project) -> None:
    here, there = add(ada, "here", context="a"), add(ada, "there", context="b")
    rule = add_constraint(caller=ada, category="security", text="Ask for a token.")["id"]
    relate(caller=ada, source=here, target=there)
    relate(caller=ada, source=f"constraint:{rule}", target=here)
    Constraint.objects.in_project(apollo).get(pk=rule).delete()
    assert len(edges(apollo)) == 1
    delete_context(caller=ada, context="b")
    assert not edges(apollo)


def test_the_same_id_of_another_kind_or_project_stays(ada: Caller, cy: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    relate(caller=ada, source=one, target=other)
    delete_edges_of(apollo.pk, "decision", [one, other])
    delete_edges_of(cy.project_id, "memory", [one, other])
    assert len(edges(apollo)) == 1


# -- Writes through the ORM ------------------------------------------------------------------------


def test_writes_through_the_orm_leave_events(ada: Caller, apollo: Project) -> None:
    one, other = add(ada, "one"), add(ada, "other")
    row = Relationship.objects.create(
        project=apollo, source_kind="memory", source_id=one, target_kind="memory", target_id=other
    )
    row.save()
    row.strength = 70
    row.save(update_fields=["strength"])
    row.delete()
    note = f"memory:{one} related memory:{other}"
    assert events(apollo) == [
        ("created", f"{note}, 50"),
        ("updated", f"{note}, 70"),
        ("deleted", f"{note}, 70"),
    ]


def test_deleting_a_project_deletes_its_relationships(ada: Caller, apollo: Project) -> None:
    relate(caller=ada, source=add(ada, "one"), target=add(ada, "other"))
    apollo.delete()
    assert not Relationship.unscoped.exists()


# -- Neighbourhood ---------------------------------------------------------------------------------


@pytest.fixture
def cycle(ada: Caller) -> list[int]:
    """1 → 2 → 3 → 4 → 1, and 5 → 3."""
    ids = [add(ada, f"memory {n}") for n in range(1, 6)]
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 2)]
    for source, target in pairs:
        relate(caller=ada, source=ids[source], target=ids[target], relation="references")
    return ids


def keys(ids: list[int]) -> list[ObjectKey]:
    return [("memory", row_id) for row_id in ids]


def test_a_step_follows_both_directions(ada: Caller, cycle: list[int]) -> None:
    around = find_neighbourhood(ada.project_id, ("memory", cycle[0]), 1)
    assert set(around.nodes) == set(keys([cycle[0], cycle[1], cycle[3]]))
    assert len(around.edges) == 2


def test_a_cycle_is_followed_once(ada: Caller, cycle: list[int]) -> None:
    around = find_neighbourhood(ada.project_id, ("memory", cycle[0]), 5)
    assert set(around.nodes) == set(keys(cycle))
    assert next(iter(around.nodes)) == ("memory", cycle[0])
    assert len(around.edges) == len({edge.id for edge in around.edges}) == 5
    assert not around.is_cut


def test_objects_two_steps_away_are_found_at_depth_two(ada: Caller, cycle: list[int]) -> None:
    two = find_neighbourhood(ada.project_id, ("memory", cycle[0]), 2)
    assert set(two.nodes) == set(keys(cycle[:4]))
    assert ("memory", cycle[4]) in find_neighbourhood(ada.project_id, ("memory", cycle[0]), 3).nodes


def test_the_numbers_of_nodes_and_edges_are_limited(
    ada: Caller, cycle: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "NODES", 3)
    around = find_neighbourhood(ada.project_id, ("memory", cycle[2]), 5)
    assert (len(around.nodes), around.is_cut) == (3, True)
    assert all(edge.source in around.nodes and edge.target in around.nodes for edge in around.edges)
    monkeypatch.setattr(queries, "EDGES", 1)
    around = find_neighbourhood(ada.project_id, ("memory", cycle[2]), 5)
    assert (len(around.edges), around.is_cut) == (1, True)


def test_a_node_has_name_title_and_type(ada: Caller) -> None:
    one = add(ada, "one", type="idea")
    set_decision(caller=ada, key="api/auth", value="JWT")
    relate(caller=ada, source=one, target="decision:api/auth")
    around = find_neighbourhood(ada.project_id, ("memory", one), 1)
    nodes = [(node.name, node.title, node.type) for node in around.nodes.values()]
    assert nodes == [(one, "one", "idea"), ("decision:api/auth", "api/auth", "decision")]


# -- Suggestions -----------------------------------------------------------------------------------

REDIS = "Keep answers in Redis, five minutes"  # keep answers redis five minutes


def suggested(caller: Caller, of: int | str, **arguments: Any) -> list[tuple[int, str, int, float]]:
    [centre] = get_ends(caller.project_id, of)
    found = suggest_relationships(caller.project_id, centre, **arguments)
    return [(one.target, str(one.relation.label), one.strength, one.score) for one in found]


def test_memories_with_common_words_are_suggested(ada: Caller) -> None:
    """Titles have 1 of 3 words in common, contents 4 of 6: 0.3 / 3 + 0.7 * 4 / 6 = 0.5667."""
    one = add(ada, "Redis cache", REDIS)
    other = add(ada, "Redis queue", "Keep answers in Redis, five hours")
    assert suggested(ada, one) == [(other, "references", 57, 0.5667)]
    assert suggested(ada, other) == [(one, "references", 57, 0.5667)]


def test_the_score_decides_the_suggested_relation(ada: Caller) -> None:
    """`little` has no title word of 4 in common, contents 3 of 6 (keep answers redis): 0.7 / 2."""
    one = add(ada, "Redis cache", REDIS)
    same = add(ada, "Redis cache", REDIS)
    little = add(ada, "Other things", "Keep answers in Redis, always")
    assert suggested(ada, one) == [(same, "includes", 100, 1.0), (little, "related", 35, 0.35)]


def test_the_threshold_and_the_limit_are_applied(ada: Caller) -> None:
    one = add(ada, "Redis cache", REDIS)
    for _ in range(3):
        add(ada, "Redis queue", "Keep answers in Redis, five hours")
    assert suggested(ada, one, threshold=0.6) == []
    assert len(suggested(ada, one, threshold=0.5667, limit=2)) == 2


def test_memories_related_in_either_direction_are_not_suggested(ada: Caller) -> None:
    one, same, copy = (add(ada, "Redis cache", REDIS) for _ in range(3))
    relate(caller=ada, source=one, target=same)
    relate(caller=ada, source=copy, target=one, relation="blocks")
    assert suggested(ada, one) == []


def test_memories_are_suggested_for_any_object(ada: Caller) -> None:
    set_decision(caller=ada, key="redis/cache", value=REDIS)
    one = add(ada, "redis cache", REDIS)
    [(target, *_)] = suggested(ada, "decision:redis/cache")
    assert target == one


def test_suggestions_are_stored_once(ada: Caller, apollo: Project) -> None:
    one = add(ada, "Redis cache", REDIS)
    other = add(ada, "Redis queue", "Keep answers in Redis, five hours")
    found = find_relationships(caller=ada, memory_id=one, create=True)
    assert (found["created"], len(found["edges"].rows), len(found["suggested"].rows)) == (1, 1, 1)
    again = find_relationships(caller=ada, memory_id=one, create=True)
    assert (again["created"], len(again["edges"].rows), again["suggested"].rows) == (0, 1, [])
    assert edges(apollo) == {(f"memory:{one}", f"memory:{other}", "references", 57)}
    assert Relationship.objects.in_project(apollo).get().is_found
    assert events(apollo) == [("created", f"memory:{one} references memory:{other}, 57")]


def test_relating_a_found_relationship_makes_it_stated(ada: Caller, apollo: Project) -> None:
    one, same = add(ada, "Redis cache", REDIS), add(ada, "Redis cache", REDIS)
    find_relationships(caller=ada, memory_id=one, create=True)
    answer = relate(caller=ada, source=one, target=same, relation="includes", strength=100)
    assert (answer["result"], Relationship.objects.in_project(apollo).get().is_found) == ("updated", False)


def test_storing_suggestions_needs_the_write_scope(apollo: Project, ada: Caller) -> None:
    one = add(ada, "Redis cache", REDIS)
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    assert find_relationships(caller=reader, memory_id=one)["created"] == 0
    with pytest.raises(NotAllowed):
        find_relationships(caller=reader, memory_id=one, create=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"threshold": -0.1},
        {"threshold": 1.5},
        {"threshold": float("nan")},
        {"limit": 0},
        {"limit": 201},
        {"depth": 0},
        {"depth": 6},
        {"memory_id": ""},
    ],
)
def test_invalid_arguments_of_find_are_refused(ada: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        find_relationships(caller=ada, **{"memory_id": add(ada, "one"), **arguments})


def test_another_projects_memories_are_neither_around_nor_suggested(ada: Caller, cy: Caller) -> None:
    theirs = add(ada, "Redis cache", REDIS)
    own = add(cy, "Redis cache", REDIS)
    assert suggested(cy, own) == []
    with pytest.raises(NotFound):
        find_relationships(caller=cy, memory_id=theirs)


def test_the_relations_are_those_of_the_contract() -> None:
    assert [label for _, label in Relation.choices] == [
        "related",
        "includes",
        "references",
        "depends_on",
        "blocks",
    ]
