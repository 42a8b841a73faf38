"""The tokens (o200k) that answers cost a model: the limits that agents rely on."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Layer, Tally
from ctxhub.toolbox.dispatch import as_text, call
from tests.tokens import o200k

pytestmark = pytest.mark.one_engine

# About sixty tokens.
TEXT = (
    "The login endpoint now answers 409 when the session was moved to another worker. Please rebase your "
    "branch on main before you touch src/api/auth, run the contract tests, and tell me here which of the "
    "two retry policies you keep, so that I can write it down as a decision today."
)


def cost(text: str) -> int:
    return o200k(text)


def cost_of(caller: Caller, tool: str, **arguments: Any) -> int:
    return cost(as_text(call(caller, tool, arguments)))


@pytest.fixture
def large_counters(ada: Caller) -> None:
    """Counters as large as those of a hub after some months."""
    statuses_of = {
        "decision": (1, 2, 3),
        "constraint": (1, 2),
        "message": (0,),
        "change": (0,),
        "resource": (0,),
        "snapshot": (0,),
        "session": (0,),
    }
    layers = Layer.objects.in_project(ada.project_id).values_list("pk", flat=True)
    for noun, statuses in statuses_of.items():
        for layer in layers:
            for status in statuses:
                Tally.objects.create(
                    project=ada.project, noun=noun, layer=layer, status=status, count=4_321 + 17 * layer
                )


@pytest.mark.usefixtures("large_counters")
def test_a_layer_summary_costs_at_most_100_tokens(ada: Caller) -> None:
    for number in range(30):
        call(ada, "file", {"path": f"src/{number}.py", "change": "modified", "layer": "data"})
    assert cost_of(ada, "hub", action="layer_summary") <= 100


@pytest.mark.usefixtures("large_counters")
def test_stats_cost_at_most_85_tokens(ada: Caller) -> None:
    assert cost_of(ada, "hub", action="stats") <= 85


def test_ten_messages_of_60_tokens_cost_at_most_980(ada: Caller, ben: Caller) -> None:
    assert 60 <= cost(TEXT) <= 64
    for number in range(10):
        to = {"to": ["ada"]} if number % 2 else {}
        call(ben, "message", {"text": TEXT, "type": "request", "priority": "high", "ack": True, **to})
    answer = call(ada, "message", {"action": "inbox"})
    assert answer["count"] == 10
    assert cost(as_text(answer)) <= 980


def test_updates_without_changes_cost_at_most_10_tokens(ada: Caller) -> None:
    assert cost_of(ada, "hub", action="updates") <= 10
