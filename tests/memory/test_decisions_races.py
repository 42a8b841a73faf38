"""Many agents write decisions at once: no write is lost, stored twice or refused."""

import time
from collections.abc import Sequence
from concurrent.futures import Executor, wait
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project, Scope, StoredAnswer, Tag
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from memory.models import Decision, DecisionRevision
from tests.crowd import (
    EVENTS_A_ROUND,
    SECONDS_TO_GATHER,
    Crowd,
    ToolCall,
    write_in_every_way,
)

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 16
ROUNDS = 8


def set_call(key: str, value: Any, **rest: Any) -> ToolCall:
    request_id = rest.pop("request_id", None)
    return ToolCall("decision", {"action": "set", "key": key, "value": value, **rest}, request_id)


def test_every_acknowledged_write_is_stored_and_versions_have_no_gaps(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [
            tool_call
            for n in range(ROUNDS)
            for tool_call in (set_call("shared", f"{agent}-{n}"), set_call(f"own/{agent}", f"{agent}-{n}"))
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for agent_items in crowd(calls) for answer in agent_items]
    assert [answer for answer in answers if "error" in answer] == []

    writes = AGENTS * ROUNDS
    assert history(apollo, "shared") == {f"1.0.{n}" for n in range(writes)}
    for agent in range(AGENTS):
        assert history(apollo, f"own/{agent}") == {f"1.0.{n}" for n in range(ROUNDS)}
    assert Event.objects.in_project(apollo).filter(noun="decision").count() == 2 * writes
    values = [call.arguments["value"] for agent_items in calls for call in agent_items]
    assert stored(apollo) == {
        (answer["key"], answer["version"], value) for answer, value in zip(answers, values, strict=True)
    }


def history(project: Project, key: str) -> set[str]:
    """All versions of a key. Fails if a version occurs twice."""
    decision = Decision.objects.in_project(project).get(key=key)
    revisions = list(
        DecisionRevision.objects.in_project(project)
        .filter(decision=decision)
        .values_list("version", flat=True)
    )
    versions = {*revisions, decision.version}
    assert len(versions) == len(revisions) + 1
    return versions


def stored(project: Project) -> set[tuple[str, str, str]]:
    current = Decision.objects.in_project(project).values_list("key", "version", "value")
    earlier = DecisionRevision.objects.in_project(project).values_list("decision__key", "version", "value")
    return {*current, *earlier}


def test_of_simultaneous_writes_with_the_same_expected_version_one_wins(crowd: Crowd, ada: Caller) -> None:
    keys = [f"k{n}" for n in range(ROUNDS)]
    for key in keys:
        set_decision(caller=ada, key=key, value="first")
    calls = [
        [set_call(key, f"by {agent}", expected_version="1.0.0") for key in keys] for agent in range(AGENTS)
    ]
    for answers in zip(*crowd(calls), strict=True):
        won = [answer for answer in answers if answer.get("version") == "1.0.1"]
        lost = [answer for answer in answers if answer.get("error") == "conflict"]
        assert (len(won), len(lost)) == (1, AGENTS - 1)
        assert all(answer["current"]["version"] == "1.0.1" for answer in lost)


def test_simultaneous_retries_of_a_request_are_written_once(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [set_call(f"k{n}", "x", agent="same", request_id=f"r-{n}") for n in range(ROUNDS)]
        for _ in range(AGENTS)
    ]
    for answers in zip(*crowd(calls), strict=True):
        assert all(answer == answers[0] for answer in answers)
        assert (answers[0]["result"], answers[0]["version"]) == ("created", "1.0.0")
    assert Event.objects.in_project(apollo).count() == ROUNDS
    assert StoredAnswer.objects.in_project(apollo).count() == ROUNDS


def test_of_different_calls_with_one_request_id_only_one_is_written(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [set_call(f"k{n}", f"by {agent % 2}", agent="same", request_id=f"r-{n}") for n in range(ROUNDS)]
        for agent in range(AGENTS)
    ]
    for n, answers in enumerate(zip(*crowd(calls), strict=True)):
        written = Decision.objects.in_project(apollo).get(key=f"k{n}").value
        won = [answer for agent, answer in enumerate(answers) if f"by {agent % 2}" == written]
        lost = [answer for agent, answer in enumerate(answers) if f"by {agent % 2}" != written]
        assert all(answer == won[0] for answer in won)
        assert {answer["error"] for answer in lost} == {"conflict"}
    assert Event.objects.in_project(apollo).count() == ROUNDS


def test_tags_scopes_and_agents_named_at_once_are_created_once(crowd: Crowd, apollo: Project) -> None:
    words = [f"Word {n}" for n in range(20)]

    def calls_of(agent: int) -> Sequence[ToolCall]:
        names = [word.upper() if agent % 2 else word for word in (words if agent % 3 else reversed(words))]
        return [
            set_call(f"k{agent}", "x", tags=names, scopes=names, agent=f"Newcomer {agent % 4}"),
            set_call(f"l{agent}", "x", tags=names[agent % 7 :], agent=f"NEWCOMER {agent % 4}"),
        ]

    answers = [
        answer
        for agent_answers in crowd([calls_of(agent) for agent in range(AGENTS)])
        for answer in agent_answers
    ]
    assert {answer.get("result") for answer in answers} == {"created"}
    for model in (Tag, Scope):
        folded_names = (
            model.objects.in_project(apollo).filter(name__istartswith="word").values_list("folded", flat=True)
        )
        assert sorted(folded_names) == sorted(word.casefold() for word in words)
    assert Agent.objects.in_project(apollo).filter(name__istartswith="newcomer").count() == 4
    for agent in range(AGENTS):
        assert Decision.objects.in_project(apollo).get(key=f"k{agent}").tags.count() == len(words)


def test_a_reader_of_updates_misses_no_event_while_eight_agents_write(
    executor: Executor, transactional_db: None, apollo: Project
) -> None:
    # Else each write would also send messages to the authors before it.
    Project.objects.filter(pk=apollo.pk).update(config={"tell_stale": False})
    set_decision(caller=Caller(project=apollo, agent="first"), key="shared", value="x")
    reader = Caller(project=apollo, agent="reader")
    start_at = time.time() + SECONDS_TO_GATHER
    writers = [
        executor.submit(write_in_every_way, apollo.pk, f"agent {n}", ROUNDS, start_at) for n in range(8)
    ]
    seen, cursor, is_over = [], 0, False
    while not is_over:
        is_over = not wait(writers, timeout=0.002).not_done  # Before the poll: the last one reads all events.
        next_cursor = call(reader, "hub", {"action": "updates", "since": f"e{cursor}"})["cursor"]
        seen += event_ids(apollo, since=cursor, until=int(next_cursor[1:]))
        cursor = int(next_cursor[1:])
    assert [str(error) for writer in writers if (error := writer.exception())] == []
    assert seen == event_ids(apollo)
    assert len(seen) == 1 + 8 * ROUNDS * EVENTS_A_ROUND


def event_ids(project: Project, since: int = 0, until: int = 2**63 - 1) -> list[int]:
    events = Event.objects.in_project(project).filter(pk__gt=since, pk__lte=until)
    return list(events.order_by("pk").values_list("pk", flat=True))
