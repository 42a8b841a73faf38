"""Concurrent writes to one pad: every line is stored once, and the lines of each writer keep their order."""

from collections import Counter
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from memory.models import Scratchpad
from memory.scratchpads.queries import content_at
from tests.crowd import Crowd, ToolCall
from tests.memory.pads import (
    assert_counters_are_right,
    content_of,
    events_of,
    new_workflow,
    pad_of,
    revisions_of,
    stored,
)

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 16
ROUNDS = 12


def append(pad: int, line: str) -> ToolCall:
    arguments = {"action": "append", "scratchpad_id": pad, "content": line, "separator": "\n"}
    return ToolCall("scratchpad", arguments)


def replace(pad: int, content: str, **rest: Any) -> ToolCall:
    return ToolCall("scratchpad", {"action": "update", "scratchpad_id": pad, "content": content, **rest})


def lines_of(agent: int) -> list[str]:
    return [f"agent {agent}, line {n}: 效能" for n in range(ROUNDS)]


def test_no_line_of_sixteen_writers_is_lost_doubled_or_out_of_order(crowd: Crowd, ada: Caller) -> None:
    pad = pad_of(ada, "begun")
    answers = crowd([[append(pad, line) for line in lines_of(agent)] for agent in range(AGENTS)])
    first, *found = content_of(pad).split("\n")
    assert first == "begun"
    assert Counter(found) == Counter(line for agent in range(AGENTS) for line in lines_of(agent))
    for agent in range(AGENTS):
        assert [line for line in found if line.startswith(f"agent {agent},")] == lines_of(agent)
    lengths = [answer["new_length"] for own in answers for answer in own]
    assert len(set(lengths)) == AGENTS * ROUNDS
    assert max(lengths) == stored(pad).length == len(content_of(pad))


def test_each_append_makes_a_revision_and_an_event(crowd: Crowd, ada: Caller) -> None:
    pad = pad_of(ada, "begun")
    crowd([[append(pad, line) for line in lines_of(agent)] for agent in range(AGENTS)])
    revisions = revisions_of(pad)
    assert [revision.number for revision in revisions] == list(range(1, AGENTS * ROUNDS + 2))
    for revision in revisions[:: AGENTS * 2]:
        text = content_at(ada.project_id, pad, revision.number)
        assert content_of(pad).startswith(text)
        assert len(text) == revision.length
    assert Counter(events_of(ada.project, "scratchpad")) == {"created": 1, "appended": AGENTS * ROUNDS}
    assert_counters_are_right(ada.project)


def test_only_one_of_the_writers_that_expect_the_same_length_succeeds(crowd: Crowd, ada: Caller) -> None:
    pads = [pad_of(ada, "old") for _ in range(4)]
    calls = [
        [replace(pad, f"by agent {agent}", expected_length=3) for pad in pads] for agent in range(AGENTS)
    ]
    for pad, answers in zip(pads, zip(*crowd(calls), strict=True), strict=True):
        outcomes = Counter(answer.get("error", answer.get("result")) for answer in answers)
        assert outcomes == {"updated": 1, "conflict": AGENTS - 1}
        [winner] = [agent for agent, answer in enumerate(answers) if "error" not in answer]
        assert content_of(pad) == f"by agent {winner}"
        assert [revision.content for revision in revisions_of(pad)] == ["old", None]


def test_concurrent_appends_and_inserts_lose_nothing(crowd: Crowd, ada: Caller) -> None:
    """Half insert at the front while half append: both are whole afterwards."""
    pad = pad_of(ada, "begun")
    calls = [
        [
            append(pad, line) if agent % 2 else replace(pad, line, mode="insert", line=1)
            for line in lines_of(agent)
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer for answer in answers if "error" in answer] == []
    found = content_of(pad).split("\n")
    assert Counter(found) == Counter(
        ["begun", *(line for agent in range(AGENTS) for line in lines_of(agent))]
    )
    revisions = revisions_of(pad)
    assert sum(revision.content is not None for revision in revisions) == 50
    for revision in revisions[::20]:
        assert len(content_at(ada.project_id, pad, revision.number)) == revision.length


def test_replacing_a_section_loses_no_append(crowd: Crowd, ada: Caller) -> None:
    pad = pad_of(ada, "# State\nold\n\n# Log")
    calls = [
        [append(pad, line) if agent % 2 else replace(pad, line, section="State") for line in lines_of(agent)]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer for answer in answers if "error" in answer] == []
    state, log = content_of(pad).split("\n\n# Log\n")
    assert state.removeprefix("# State\n") in {lines_of(agent)[-1] for agent in range(0, AGENTS, 2)}
    assert Counter(log.split("\n")) == Counter(
        line for agent in range(1, AGENTS, 2) for line in lines_of(agent)
    )


def test_concurrent_creations_stop_at_fifty_pads(crowd: Crowd, ada: Caller) -> None:
    workflow = new_workflow(ada)
    call = ToolCall("scratchpad", {"action": "create", "workflow_id": workflow, "name": "pad"})
    answers = [answer for own in crowd([[call] * 4] * AGENTS) for answer in own]
    assert Counter(answer.get("error") for answer in answers) == {None: 50, "limit_reached": 14}
    assert Scratchpad.objects.in_project(ada.project).count() == 50
    assert_counters_are_right(ada.project)


def test_appends_beside_a_deletion_are_written_or_refused(crowd: Crowd, ada: Caller) -> None:
    pad = pad_of(ada, "begun")
    delete = ToolCall("delete", {"refs": [f"scratchpad:{pad}"]})
    calls = [[append(pad, line) for line in lines_of(agent)] for agent in range(AGENTS - 1)]
    answers = [answer for own in crowd([*calls, [delete]]) for answer in own]
    assert {answer.get("error") for answer in answers} <= {None, "not_found"}
    assert not Scratchpad.unscoped.filter(pk=pad).exists()
    appended = sum("new_length" in answer for answer in answers)
    assert events_of(ada.project, "scratchpad").count("appended") == appended
    assert_counters_are_right(ada.project)
