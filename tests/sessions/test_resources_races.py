"""Concurrent tracking: no access is lost, files and sessions are made once."""

from typing import Any

from ctxhub.core.models import Project, Tally
from sessions.models import Access, AgentSession, ResourceDependency, SessionResource
from tests.crowd import Crowd, ToolCall
from tracking.models import FileContent, Resource

AGENTS = 16
ROUNDS = 5


def session(action: str, **arguments: Any) -> ToolCall:
    return ToolCall("session", {"action": action, **arguments})


def test_16_writers_of_one_file_lose_no_access(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [
            session("track", path="shared.py", access="edited", content=f"text {n % 2}", session=f"s{agent}")
            for n in range(ROUNDS)
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer for answer in answers if "error" in answer] == []
    assert Resource.objects.in_project(apollo).get().access_count == AGENTS * ROUNDS
    assert Access.objects.in_project(apollo).count() == AGENTS * ROUNDS
    links = SessionResource.objects.in_project(apollo).values_list("access_count", flat=True)
    assert list(links) == [ROUNDS] * AGENTS
    assert AgentSession.objects.in_project(apollo).count() == AGENTS
    assert FileContent.objects.in_project(apollo).count() == 1
    assert Tally.objects.in_project(apollo).get(noun="resource").count == 1


def test_16_writers_of_one_dependency_lose_no_strength(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [session("depend", source="a", target="b", type="imports") for _ in range(ROUNDS)]
        for _ in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer["result"] for answer in answers].count("created") == 1
    assert ResourceDependency.objects.in_project(apollo).get().strength == AGENTS * ROUNDS
