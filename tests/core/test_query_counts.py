"""No action asks the database more often because there is more to find."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.services import agents
from ctxhub.core.toolbox.dispatch import call
from ctxhub.core.toolbox.registry import all_tools
from memory.services.decisions import deprecate_decision, set_decision, set_decision_batch

MOST_QUERIES = 25


def fill(caller: Caller, count: int) -> None:
    """`count` of everything, with words, history and heirs of their own."""
    for start in range(0, count, 50):
        some = range(start, min(start + 50, count))
        for value in ("old", "new"):
            items = [
                {
                    "key": f"api/k{n}",
                    "value": f"{value} {n}",
                    "tags": ["api", f"t{n}"],
                    "scopes": ["api", f"s{n}"],
                }
                for n in some
            ]
            set_decision_batch(caller=caller, items=items)
    for n in range(1, count):
        deprecate_decision(caller=caller, key=f"api/k{n}", superseded_by="api/k0")
        set_decision(caller=caller, key=f"api/k{n}", value=f"new {n}", status="active")
        set_decision(caller=caller, key="api/k0", value=f"version {n}")
    call(caller, "hub", {"agent": "somebody else"})


Arguments = Callable[[int], dict[str, Any]]

# What each action is asked; `n` is how many there are of what it takes.
ASKED: dict[str, list[Arguments]] = {
    "decision.set": [
        lambda n: {"key": "new", "value": "x"},
        lambda n: {"key": "api/k0", "value": "x", "tags": ["a", "b"], "scopes": ["c"], "layer": "data"},
        lambda n: {"key": "new", "value": "x", "tags": [f"tag {i}" for i in range(min(n, 50))]},
    ],
    "decision.set_batch": [
        lambda n: {"items": [{"key": f"new{i}", "value": i} for i in range(min(n, 50))]},
        lambda n: {"items": [{"key": f"api/k{i}", "value": i, "tags": [f"u{i}"]} for i in range(min(n, 50))]},
    ],
    "decision.quick_set": [lambda n: {"key": "api/new", "value": 1}],
    "decision.get": [
        lambda n: {"key": "api/k0"},
        lambda n: {"key": "api/k0", "include": ["rationale", "history", "links"]},
        lambda n: {"key": "api/nothing"},
    ],
    "decision.list": [
        lambda n: {"limit": 2},
        lambda n: {"limit": 2, "tags": ["api"], "full": True},
        lambda n: {"limit": 2, "scope": "api", "sort": "key"},
        lambda n: {"limit": min(n - 1, 200), "by": "ada"},
        lambda n: {"status": "draft"},
    ],
    "decision.versions": [lambda n: {"key": "api/k0"}],
    "decision.deprecate": [lambda n: {"key": "api/k0", "reason": "x"}],
    "decision.delete": [lambda n: {"key": "api/k0"}, lambda n: {"key": "api/k1"}],
    "get": [lambda n: {"refs": [f"decision:api/k{i}" for i in range(min(n, 50))]}],
    "hub.stats": [lambda n: {}],
    "hub.activity": [lambda n: {"limit": 2}, lambda n: {"agents": ["ada"], "verbs": ["set"], "since": "1h"}],
    "hub.updates": [lambda n: {}, lambda n: {"since": "e0"}],
    "hub.layer_summary": [lambda n: {}],
    "hub.wait": [lambda n: {"since": "e0", "wait_seconds": 0}],
    "hub.view": [
        lambda n: {"name": "layer_summary"},
    ],
    "hub.clear": [lambda n: {}, lambda n: {"dry_run": True}],
    "hub.config": [lambda n: {}],
    "hub.config_set": [lambda n: {"values": {"change_days": 3}}],
    "hub.agents": [lambda n: {}],
    "hub.vocabulary": [lambda n: {}],
}


def queries(caller: Caller, name: str, arguments: dict[str, Any]) -> int:
    tool, _, action = name.partition(".")
    agents._touched[caller.project_id, caller.agent] = float("inf")  # Seen just now: not part of the action.
    with CaptureQueriesContext(connection) as captured:
        call(caller, tool, {**arguments, **({"action": action} if action else {})})
    return len(captured)


def test_every_action_is_counted() -> None:
    actions = {action.call for tool in all_tools().values() for action in tool.actions.values()}
    assert set(ASKED) == actions


def test_an_action_asks_as_often_at_5_rows_as_at_100(
    apollo: Project, hermes: Project, subtests: Subtests
) -> None:
    few, many = (Caller(project=project, agent="ada") for project in (apollo, hermes))
    fill(few, 5)
    fill(many, 100)
    for name, given in ASKED.items():
        for arguments in given:
            with subtests.test(name, arguments=arguments(2)), rolled_back():
                asked = queries(few, name, arguments(5)), queries(many, name, arguments(100))
                assert asked[0] == asked[1] <= MOST_QUERIES


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
