"""Concurrent writes: one context per name, no memory lost, right counts."""

from collections import Counter
from typing import Any

import pytest

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project, Tag
from memory.contexts.services import create_context
from memory.memories.services import add_memory
from memory.models import Context, Memory
from tests.crowd import Crowd, ToolCall

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 16
ROUNDS = 6


def memory_call(action: str, **arguments: Any) -> ToolCall:
    return ToolCall("memory", {"action": action, **arguments})


def assert_counts_are_right(project: Project) -> None:
    for context in Context.objects.in_project(project):
        assert context.memory_count == context.memories.count(), context
    assert Stats(project.pk).of("memory") == Memory.objects.in_project(project).count()
    assert Stats(project.pk).of("context") == Context.objects.in_project(project).count()


def test_a_context_that_many_agents_name_at_once_is_created_once(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [
            memory_call(
                "add",
                title=f"memory {agent} {n}",
                content="x",
                context=(f"new {n}", f"NEW {n}")[agent % 2],
                tags=[f"tag {n}"],
            )
            for n in range(ROUNDS)
        ]
        for agent in range(AGENTS)
    ]
    for answers in zip(*crowd(calls), strict=True):
        assert Counter(answer.get("context_created") for answer in answers) == {True: 1, None: AGENTS - 1}
        assert len({answer["id"] for answer in answers}) == AGENTS
    contexts = Context.objects.in_project(apollo)
    assert list(contexts.values_list("memory_count", flat=True)) == [AGENTS] * ROUNDS
    assert Tag.objects.in_project(apollo).filter(name__startswith="tag ").count() == ROUNDS
    nouns = Counter(Event.objects.in_project(apollo).values_list("noun", flat=True))
    assert (nouns["context"], nouns["memory"]) == (ROUNDS, AGENTS * ROUNDS)
    assert_counts_are_right(apollo)


def test_only_one_of_concurrent_context_creations_succeeds(crowd: Crowd, apollo: Project) -> None:
    calls = [[memory_call("context_create", name=f"c{n}") for n in range(ROUNDS)] for _ in range(AGENTS)]
    for answers in zip(*crowd(calls), strict=True):
        assert Counter(answer.get("error", "created") for answer in answers) == {
            "created": 1,
            "conflict": AGENTS - 1,
        }
    assert Stats(apollo.pk).of("context") == ROUNDS


def test_counts_stay_right_under_concurrent_writes(crowd: Crowd, ada: Caller) -> None:
    """Agents add, move and delete memories and delete a context: the counters equal the rows."""
    for name in ("a", "b", "c"):
        create_context(caller=ada, name=name)
    ids = [
        add_memory(caller=ada, title=f"{n}", content="x", context="abc"[n % 3])["id"] for n in range(ROUNDS)
    ]
    calls = [
        [
            (
                memory_call("add", title=f"{agent} {n}", content="x", context="abc"[n % 3]),
                memory_call("update", id=row_id, context="abc"[agent % 3], content=f"{agent}"),
                ToolCall("delete", {"refs": [f"memory:{row_id}"]}),
                ToolCall("delete", {"refs": ["context:c", f"memory:{row_id}"]}),
            )[agent % 4]
            for n, row_id in enumerate(ids)
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert {answer.get("error", "not_found") for answer in answers} == {"not_found"}
    assert_counts_are_right(ada.project)
