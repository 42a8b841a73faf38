"""Concurrent saves of sessions and snapshots: nothing is lost, doubled or mixed up."""

from collections import Counter
from typing import Any

from ctxhub.core.models import Event, Project, SearchEntry, Tally
from memory.snapshots.models import Snapshot, SnapshotDependency
from sessions.models import AgentSession, ContextItem, Conversation, SessionResource, WorkspaceState
from tests.crowd import Answers, Crowd, ToolCall
from tracking.models import Resource

AGENTS = 16
ROUNDS = 4


def save_session(writer: int, n: int, **arguments: Any) -> ToolCall:
    return ToolCall("session", {"action": "save", "conversation": f"{writer} said {n}", **arguments})


def save_snapshot(writer: int, n: int, **arguments: Any) -> ToolCall:
    return ToolCall("snapshot", {"action": "save", "content": f"{writer} did {n}", **arguments})


def made(crowd: Crowd, calls: list[list[ToolCall]]) -> list[Answers]:
    """The answers of each agent, none of which is an error."""
    answers = crowd(calls)
    assert [answer for own in answers for answer in own if "error" in answer] == []
    return answers


def count_of(project: Project, noun: str) -> int:
    return sum(Tally.objects.in_project(project).filter(noun=noun).values_list("count", flat=True))


def test_16_writers_of_sessions_and_snapshots_lose_none(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [
            call
            for n in range(ROUNDS)
            for call in (
                save_session(agent, n, session=f"window {agent}", items=[{"content": f"{n}"}]),
                save_snapshot(agent, n, session=f"window {agent}"),
            )
        ]
        for agent in range(AGENTS)
    ]
    answers = made(crowd, calls)
    sessions = [{answer["session"] for answer in own[::2]} for own in answers]
    assert [len(own) for own in sessions] == [1] * AGENTS
    assert len(set.union(*sessions)) == AgentSession.objects.in_project(apollo).count() == AGENTS
    assert Conversation.objects.in_project(apollo).count() == AGENTS * ROUNDS
    assert set(ContextItem.objects.in_project(apollo).values_list("content", flat=True)) == {f"{ROUNDS - 1}"}
    assert ContextItem.objects.in_project(apollo).count() == AGENTS
    ids = {answer["id"] for own in answers for answer in own[1::2]}
    assert len(ids) == Snapshot.objects.in_project(apollo).count() == AGENTS * ROUNDS


def test_snapshots_of_16_writers_keep_to_their_sessions_and_authors(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [save_session(agent, 0), *(save_snapshot(agent, n) for n in range(ROUNDS))] for agent in range(AGENTS)
    ]
    for agent, (saved, *snapshots) in enumerate(made(crowd, calls)):
        rows = list(Snapshot.objects.in_project(apollo).filter(session_id=saved["session"]).order_by("pk"))
        assert [row.content for row in rows] == [f"{agent} did {n}" for n in range(ROUNDS)]
        # Each rests on all that the agent saved before, and on nothing of another agent.
        assert [answer["dependencies"] for answer in snapshots] == [
            [row.pk for row in rows[:n]][::-1] for n in range(ROUNDS)
        ]
    assert SnapshotDependency.objects.in_project(apollo).count() == AGENTS * ROUNDS * (ROUNDS - 1) // 2


def test_16_writers_leave_counters_index_and_events_of_each_row(crowd: Crowd, apollo: Project) -> None:
    made(
        crowd,
        [[save_session(agent, 0, session=f"{agent}s"), save_snapshot(agent, 0)] for agent in range(AGENTS)],
    )
    for noun, verb in (("session", "saved"), ("snapshot", "created")):
        assert count_of(apollo, noun) == AGENTS
        assert SearchEntry.objects.in_project(apollo).filter(kind=noun).count() == AGENTS
        refs = Event.objects.in_project(apollo).filter(ref__startswith=f"{noun}:", verb=verb)
        assert Counter(refs.values_list("ref", flat=True)).most_common(1)[0][1] == 1
        assert refs.count() == AGENTS


def test_16_agents_continue_one_session_each_in_a_line_of_its_own(crowd: Crowd, apollo: Project) -> None:
    [[first]] = made(crowd, [[save_session(0, 0, branch="main", items=[{"content": "start"}])]])
    restore = ToolCall("session", {"action": "restore", "session": first["session"]})
    again = ToolCall("session", {"action": "save", "summary": "mine"})
    answers = made(crowd, [[restore, again] for _ in range(AGENTS)])
    children = [restored["session"] for restored, _ in answers]
    assert [saved["session"] for _, saved in answers] == children
    assert len(set(children)) == AGENTS
    parents = AgentSession.objects.in_project(apollo).filter(pk__in=children).values_list("parent", flat=True)
    assert list(parents) == [first["session"]] * AGENTS
    assert WorkspaceState.objects.in_project(apollo).filter(branch="main").count() == 1 + AGENTS
    assert ContextItem.objects.in_project(apollo).filter(content="start").count() == 1 + AGENTS


def test_16_writers_of_the_same_files_make_each_once(crowd: Crowd, apollo: Project) -> None:
    files = [{"path": f"src/{n}.py", "hash": f"{n}", "content": f"x = {n}"} for n in range(10)]
    made(crowd, [[save_session(agent, n, files=files) for n in range(2)] for agent in range(AGENTS)])
    assert Resource.objects.in_project(apollo).count() == len(files)
    assert SessionResource.objects.in_project(apollo).filter(is_saved=True).count() == 2 * AGENTS * len(files)


def test_16_windows_that_open_one_name_share_one_session(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [save_session(0, n, session="shared", agent="ada") for n in range(ROUNDS)] for _ in range(AGENTS)
    ]
    answers = [answer for own in made(crowd, calls) for answer in own]
    assert Counter(answer["result"] for answer in answers) == {"created": 1, "updated": AGENTS * ROUNDS - 1}
    assert AgentSession.objects.in_project(apollo).get().name == "shared"
