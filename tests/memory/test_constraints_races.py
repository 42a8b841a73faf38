"""Many agents add or change the same constraints at once: one row, counted once, one event per change."""

from collections import Counter
from typing import Any

import pytest

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Category, Event, Project, Tag
from memory.constraints.services import add_constraint
from memory.models import Constraint, ConstraintStatus
from tests.crowd import Crowd, ToolCall

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 16
ROUNDS = 6


def add_call(text: str, category: str, **rest: Any) -> ToolCall:
    return ToolCall("constraint", {"action": "add", "category": category, "text": text, **rest})


def test_simultaneous_equal_additions_create_one_constraint(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [add_call(f"text {n}", ("New", "NEW")[agent % 2], tags=[f"tag {n}"]) for n in range(ROUNDS)]
        for agent in range(AGENTS)
    ]
    for answers in zip(*crowd(calls), strict=True):
        results = Counter(answer["result"] for answer in answers)
        assert results == {"created": 1, "exists": AGENTS - 1}
        assert len({answer["id"] for answer in answers}) == 1
    assert Constraint.objects.in_project(apollo).count() == ROUNDS
    assert Category.objects.in_project(apollo).filter(folded="new").count() == 1
    assert Tag.objects.in_project(apollo).filter(name__startswith="tag ").count() == ROUNDS
    assert Event.objects.in_project(apollo).filter(noun="constraint").count() == ROUNDS
    assert Stats(apollo.pk).of("constraint") == ROUNDS


def test_of_simultaneous_deactivations_exactly_one_updates(crowd: Crowd, ada: Caller) -> None:
    ids = [
        add_constraint(caller=ada, category="security", text=str(n), layer="data")["id"]
        for n in range(ROUNDS)
    ]
    calls = [
        [ToolCall("constraint", {"action": "deactivate", "id": row_id}) for row_id in ids]
        for _ in range(AGENTS)
    ]
    for answers in zip(*crowd(calls), strict=True):
        assert Counter(answer["result"] for answer in answers) == {"updated": 1, "unchanged": AGENTS - 1}
    assert Event.objects.in_project(ada.project).filter(verb="deactivated").count() == ROUNDS
    stats = Stats(ada.project_id)
    assert stats.of("constraint", status=ConstraintStatus.INACTIVE) == stats.of("constraint") == ROUNDS


def test_stats_and_events_stay_correct_under_simultaneous_changes(crowd: Crowd, ada: Caller) -> None:
    """Half of the agents deactivate what the others add again: each change has an event, stats are right."""
    ids = [add_constraint(caller=ada, category="security", text=str(n))["id"] for n in range(ROUNDS)]
    calls = [
        [
            add_call(str(n), "security")
            if agent % 2
            else ToolCall("constraint", {"action": "deactivate", "id": row_id})
            for n, row_id in enumerate(ids)
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own_answers in crowd(calls) for answer in own_answers]
    assert [answer for answer in answers if "error" in answer] == []
    rows = Constraint.objects.in_project(ada.project)
    active = rows.filter(status=ConstraintStatus.ACTIVE).count()
    assert Stats(ada.project_id).of("constraint", status=ConstraintStatus.ACTIVE) == active
    verbs = Counter(Event.objects.in_project(ada.project).values_list("verb", flat=True))
    assert verbs["deactivated"] == sum(answer.get("result") == "updated" for answer in answers)
    assert verbs["deactivated"] - verbs["activated"] == ROUNDS - active
