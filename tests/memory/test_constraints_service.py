"""Constraints through the service functions."""

from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.events.counters import Stats
from ctxhub.core.events.log import recorded
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Agent, Category, Event, Project
from ctxhub.toolbox.dispatch import call
from memory.constraints.queries import constraint_item, get_constraint
from memory.constraints.services import (
    activate_constraint,
    add_constraint,
    deactivate_constraint,
    delete_constraint,
)
from memory.models import Constraint, ConstraintStatus
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

TEXT = "Every address of the API asks for a token."
TOKEN = "ghp_" + "a1B2" * 9


def add(caller: Caller, **rest: Any) -> dict[str, Any]:
    return {**add_constraint(caller=caller, **{"category": "security", "text": TEXT, **rest})}


def item(caller: Caller, constraint_id: int) -> dict[str, Any]:
    return constraint_item(get_constraint(caller.project_id, constraint_id))


def events(caller: Caller) -> list[tuple[str, str, dict[str, Any]]]:
    events = Event.objects.in_project(caller.project).order_by("pk")
    return [(event.verb, event.ref, event.data) for event in events]


def stats(caller: Caller) -> tuple[int, int]:
    counted = Stats(caller.project_id)
    return counted.of("constraint", status=ConstraintStatus.ACTIVE), counted.of("constraint")


# -- Adding ----------------------------------------------------------------------------------------


def test_adding_stores_all_fields(ada: Caller) -> None:
    answer = add(
        ada,
        priority="critical",
        layer="Data",
        tags=["api", "api", "OAuth"],
        scopes=["api/auth"],
        paths=["./src/api/**"],
        reason="It is public.",
    )
    assert answer == {"id": answer["id"], "result": "created"}
    stored = item(ada, answer["id"])
    assert stored.pop("at").endswith("Z")
    assert stored == {
        "id": answer["id"],
        "category": "security",
        "text": TEXT,
        "priority": "critical",
        "layer": "data",
        "tags": ["api", "OAuth"],
        "scopes": ["api/auth"],
        "paths": ["src/api/**"],
        "reason": "It is public.",
        "status": "active",
        "agent": "ada",
    }


def test_omitted_fields_get_their_defaults(ada: Caller) -> None:
    stored = item(ada, add(ada)["id"])
    assert (stored["priority"], stored["status"]) == ("medium", "active")
    assert [stored[name] for name in ("layer", "tags", "scopes", "paths", "reason")] == [None, [], [], [], ""]


@pytest.mark.parametrize("priority", ["high", " HIGH ", 3, "3"])
def test_a_priority_is_a_word_or_its_number(ada: Caller, priority: Any) -> None:
    assert item(ada, add(ada, priority=priority)["id"])["priority"] == "high"


def test_a_new_category_is_registered_and_found_whatever_its_case(ada: Caller) -> None:
    first = add(ada, category="Accessibility")
    other = add(ada, category="ACCESSIBILITY", text="Every picture has a text.")
    assert item(ada, other["id"])["category"] == item(ada, first["id"])["category"] == "Accessibility"
    assert [data["note"] for _, _, data in events(ada)] == ["Accessibility, medium"] * 2
    assert Category.objects.in_project(ada.project).filter(folded="accessibility").count() == 1


def test_an_unknown_layer_is_refused_with_the_known_ones(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as refused:
        add(ada, layer="dta")
    assert refused.value.details["did_you_mean"] == "data"
    assert not Constraint.objects.in_project(ada.project).exists()


def test_adding_registers_the_agent_and_records_an_event(ada: Caller) -> None:
    answer = add(ada, priority="high")
    assert events(ada) == [
        ("created", f"constraint:{answer['id']}", {"note": "security, high", "priority": "high"})
    ]
    [agent] = Agent.objects.in_project(ada.project)
    assert (agent.name, Event.objects.in_project(ada.project).get().agent) == ("ada", agent)


# -- Adding again ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        {},
        {"category": "Security"},
        {"category": " security "},
        {"text": f"\n {TEXT} \n"},
    ],
    ids=str,
)
def test_an_equal_text_in_the_same_category_is_the_same_constraint(
    ada: Caller, ben: Caller, again: dict[str, Any]
) -> None:
    first = add(ada)
    before = dump_project(ada.project)
    assert add(ben, **again) == {"id": first["id"], "result": "exists"}
    assert dump_project(ada.project) == before


def test_texts_equal_after_unicode_normalisation_are_the_same_constraint(ada: Caller) -> None:
    first = add(ada, text="Cafe\u0301s close at ten.")
    assert add(ada, text="Caf\u00e9s close at ten.")["id"] == first["id"]


@pytest.mark.parametrize("other", [{"category": "architecture"}, {"text": TEXT.upper()}], ids=str)
def test_another_text_or_category_is_another_constraint(ada: Caller, other: dict[str, Any]) -> None:
    assert add(ada)["id"] != add(ada, **other)["id"]


def test_adding_again_with_other_fields_names_them_and_writes_nothing(ada: Caller) -> None:
    first = add(ada, priority="high", tags=["api"], reason="It is public.")
    before = dump_project(ada.project)
    answer = add(ada, priority="low", layer="data", tags=["new"], reason="It is public.")
    assert answer["hint"] == "It stays as it was stored, which differs in priority, layer, tags."
    assert (answer["id"], answer["result"]) == (first["id"], "exists")
    assert dump_project(ada.project) == before


def test_adding_again_validates_the_layer(ada: Caller) -> None:
    add(ada)
    with pytest.raises(InvalidInput, match="layer"):
        add(ada, layer="nowhere")


def test_adding_an_inactive_constraint_activates_it(ada: Caller, ben: Caller) -> None:
    first = add(ada, priority="high")
    deactivate_constraint(caller=ada, constraint_id=first["id"])
    answer = add(ben, priority="low")
    assert answer["result"] == "exists"
    assert answer["hint"].startswith("It was inactive and is active again. It stays")
    stored = item(ada, first["id"])
    assert (stored["status"], stored["priority"], stored["agent"]) == ("active", "high", "ada")
    assert [verb for verb, _, _ in events(ada)] == ["created", "deactivated", "activated"]


# -- Deactivating, activating and deleting ---------------------------------------------------------


def test_deactivating_and_activating_change_the_status_once(ada: Caller) -> None:
    row_id = add(ada)["id"]
    for change, status in ((deactivate_constraint, "inactive"), (activate_constraint, "active")):
        first = change(caller=ada, constraint_id=row_id)
        assert first == {"id": row_id, "status": status, "result": "updated"}
        before = dump_project(ada.project)
        assert change(caller=ada, constraint_id=row_id) == {**first, "result": "unchanged"}
        assert dump_project(ada.project) == before


def test_the_event_of_a_deactivation_has_its_reason(ada: Caller) -> None:
    row_id = add(ada, reason="It is public.")["id"]
    deactivate_constraint(caller=ada, constraint_id=row_id, reason="It is not public any more.")
    assert events(ada)[-1] == (
        "deactivated",
        f"constraint:{row_id}",
        {"reason": "It is not public any more.", "priority": "medium"},
    )
    assert item(ada, row_id)["reason"] == "It is public."


@pytest.mark.parametrize("unknown", [0, -1, 10**6, 2**63, 10**30])
@pytest.mark.parametrize("change", [deactivate_constraint, activate_constraint, delete_constraint])
def test_an_unknown_id_is_not_found(ada: Caller, change: Callable[..., Any], unknown: int) -> None:
    with pytest.raises(NotFound):
        change(caller=ada, constraint_id=unknown)


def test_another_projects_constraint_is_not_found(ada: Caller, cy: Caller) -> None:
    row_id = add(ada)["id"]
    before = dump_project(ada.project)
    for change in (deactivate_constraint, activate_constraint, delete_constraint):
        with pytest.raises(NotFound):
            change(caller=cy, constraint_id=row_id)
    assert dump_project(ada.project) == before


def test_deleting_leaves_only_an_event_without_the_text(ada: Caller, ben: Caller) -> None:
    row_id = add(ada, text="moonshot", tags=["api"], scopes=["src"])["id"]
    delete_constraint(caller=ben, constraint_id=row_id)
    assert not Constraint.objects.in_project(ada.project).exists()
    assert events(ada)[-1] == (
        "deleted",
        f"constraint:{row_id}",
        {"note": "security, medium", "priority": "medium"},
    )
    left = {table: rows for table, rows in dump_project(ada.project).items() if "_bin" not in table}
    assert "moonshot" not in repr(left)
    assert stats(ada) == (0, 0)


# -- Stats and refs --------------------------------------------------------------------------------


def test_every_write_updates_the_stats(ada: Caller) -> None:
    first, second = add(ada, layer="data")["id"], add(ada, text="x", layer="data")["id"]
    assert stats(ada) == (2, 2)
    deactivate_constraint(caller=ada, constraint_id=first)
    assert stats(ada) == (1, 2)
    add(ada, layer="data")
    deactivate_constraint(caller=ada, constraint_id=second)
    assert stats(ada) == (1, 2)
    assert call(ada, "hub", {"action": "stats"})["constraints"] == [1, 2]


def test_get_opens_a_constraint_in_full_or_as_a_digest(ada: Caller) -> None:
    ref = f"constraint:{add(ada, text='x' * 300, paths=['src/**'])['id']}"
    [full] = call(ada, "get", {"refs": [ref]})["items"]
    assert (full["ref"], full["text"], full["paths"]) == (ref, "x" * 300, ["src/**"])
    [digest] = call(ada, "get", {"refs": [ref], "detail": "digest"})["items"]
    assert digest == {
        "ref": ref,
        "category": "security",
        "text": "x" * 200 + "…",
        "priority": "medium",
        "status": "active",
    }


@pytest.mark.parametrize("name", ["0", "01", "-1", "x", "1.0", "9" * 18, "9" * 40, "²", "\u0663"])
def test_get_reports_an_invalid_id_as_missing(ada: Caller, name: str) -> None:
    add(ada)
    ref = f"constraint:{name}"
    assert call(ada, "get", {"refs": [ref]}) == {"items": [], "missing": [ref]}


# -- Bad input -------------------------------------------------------------------------------------

BAD: list[dict[str, Any]] = [
    {"category": " "},
    {"category": "x" * 101},
    {"category": "a\x00"},
    {"category": TOKEN},
    {"text": ""},
    {"text": " \n "},
    {"text": "x" * 65_537},
    {"text": "a\x00"},
    {"text": "\ud800"},
    {"text": f"Use {TOKEN}."},
    {"priority": "urgent"},
    {"priority": 5},
    {"priority": ""},
    {"layer": "nowhere"},
    {"tags": ["x" * 101]},
    {"tags": [" "]},
    {"tags": [f"t{n}" for n in range(51)]},
    {"tags": [TOKEN]},
    {"scopes": ["a\x00"]},
    {"scopes": [TOKEN]},
    {"paths": ["../x"]},
    {"paths": ["/etc/passwd"]},
    {"paths": [f"src/{TOKEN}"]},
    {"reason": "x" * 65_537},
    {"reason": TOKEN},
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad)[:60])
def test_bad_input_is_refused_and_nothing_is_written(ada: Caller, bad: dict[str, Any]) -> None:
    before = dump_project(ada.project)
    with pytest.raises(InvalidInput) as refused:
        add(ada, **bad)
    assert next(iter(bad)) in refused.value.message
    assert dump_project(ada.project) == before


def test_a_reason_that_holds_a_credential_is_refused(ada: Caller) -> None:
    row_id = add(ada)["id"]
    with pytest.raises(InvalidInput, match="reason"):
        deactivate_constraint(caller=ada, constraint_id=row_id, reason=TOKEN)
    assert item(ada, row_id)["status"] == "active"


def test_an_administrator_may_add_a_text_that_looks_like_a_credential(apollo: Project) -> None:
    administrator = Caller(project=apollo, agent="root", keeps_secrets=True)
    assert add(administrator, text=f"Never use {TOKEN} again.")["result"] == "created"


def test_a_failure_during_a_write_rolls_everything_back(ada: Caller) -> None:
    before = dump_project(ada.project)

    def fail(**_: Any) -> None:
        raise RuntimeError

    recorded.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            add(ada, category="new", tags=["new"], scopes=["new"])
    finally:
        recorded.disconnect(fail)
    assert dump_project(ada.project) == before


def test_priority_labels_are_in_ascending_order() -> None:
    assert Priority.labels == ["low", "medium", "high", "critical"]
