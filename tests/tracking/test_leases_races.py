"""Concurrent leases and changes: no two exclusive leases overlap, nothing is lost or doubled."""

from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project, Tally
from ctxhub.core.text.globs import overlap
from tests.crowd import Crowd, ToolCall
from tracking.leases.services import acquire_lease
from tracking.models import FileChange, Lease, LeasePath, Resource

AGENTS = 12
ROUNDS = 6
PATTERNS = ("src/**", "src/api/*", "src/api/auth.py", "**/*.py", "docs/", "docs/*.md", "[a-d]*/x", "lib/a")


def file(action: str, **arguments: Any) -> ToolCall:
    return ToolCall("file", {"action": action, **arguments})


def test_two_exclusive_leases_on_overlapping_globs_never_both_succeed(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [
            file("lease", paths=[PATTERNS[(agent + n) % len(PATTERNS)]], exclusive=agent % 4 > 0)
            for n in range(ROUNDS)
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert {answer.get("error") for answer in answers} <= {None, "conflict"}

    held = list(LeasePath.objects.in_project(apollo).select_related("lease"))
    granted = [answer["lease_id"] for answer in answers if "lease_id" in answer]
    assert sorted(granted) == sorted({path.lease_id for path in held})
    for path in held:
        for other in held:
            if path.lease.agent_id != other.lease.agent_id and overlap(path.pattern, other.pattern):
                assert not path.lease.exclusive
                assert not other.lease.exclusive


def test_of_concurrent_leases_on_one_path_one_succeeds(crowd: Crowd, apollo: Project) -> None:
    names = ("x", "**", "[x-z]", "?")
    calls = [
        [file("lease", paths=[f"f{n}/{names[agent % len(names)]}"]) for n in range(ROUNDS)]
        for agent in range(AGENTS)
    ]
    for answers in zip(*crowd(calls), strict=True):
        won = [answer for answer in answers if "lease_id" in answer]
        assert len(won) == 1
        assert all(
            answer["current"]["lease_id"] == won[0]["lease_id"] for answer in answers if answer not in won
        )


def test_concurrent_leases_of_one_agent_on_the_same_paths_are_one(crowd: Crowd, apollo: Project) -> None:
    paths = (["src/**", "docs/x"], ["docs/x", "src/**"])
    calls = [
        [file("lease", paths=paths[(agent + n) % 2], minutes=15 + n, agent="holder") for n in range(ROUNDS)]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert sorted(answer["result"] for answer in answers) == ["created", *["extended"] * (len(answers) - 1)]
    held = Lease.objects.in_project(apollo).get()
    assert {answer["fence"] for answer in answers} == {held.pk}
    assert held.paths.count() == 2
    events = Event.objects.in_project(apollo).filter(noun="lease").order_by("pk")
    verbs = list(events.values_list("verb", flat=True))
    assert (verbs[0], {*verbs[1:]}) == ("leased", {"renewed"})


def test_concurrent_changes_are_stored_once_and_new_files_created_once(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [
            call
            for n in range(ROUNDS)
            for call in (
                file("record", path=f"shared/{n}", change="modified", layer="data"),
                file("record_batch", items=[{"path": f"own/{agent}/{n}", "change": "created"}] * 2),
            )
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer for answer in answers if "error" in answer or answer.get("failed")] == []

    changes, files = AGENTS * ROUNDS * 3, ROUNDS + AGENTS * ROUNDS
    assert FileChange.objects.in_project(apollo).count() == changes
    assert Resource.objects.in_project(apollo).count() == files
    assert Event.objects.in_project(apollo).filter(noun="change").count() == changes
    tallies = Tally.objects.in_project(apollo).values_list("noun", "count")
    counts = {noun: sum(count for kind, count in tallies if kind == noun) for noun in ("change", "resource")}
    assert counts == {"change": changes, "resource": files}


def test_concurrent_releases_release_a_lease_once(crowd: Crowd, apollo: Project) -> None:
    [made] = crowd([[file("lease", paths=["a"], agent="holder")]])[0]
    calls = [[file("release", lease_id=made["lease_id"], agent="holder")] for _ in range(AGENTS)]
    assert sorted(answer["released"] for [answer] in crowd(calls)) == [0] * (AGENTS - 1) + [1]
    assert Lease.objects.in_project(apollo).get().released_at
    assert Event.objects.in_project(apollo).filter(verb="released").count() == 1


def test_of_sixteen_sessions_of_one_agent_on_one_path_one_holds_it(crowd: Crowd, apollo: Project) -> None:
    calls = [
        [file("lease", paths=[f"f{n}/x"], agent="holder", session=f"window-{number}") for n in range(ROUNDS)]
        for number in range(16)
    ]
    for answers in zip(*crowd(calls), strict=True):
        [won] = [answer for answer in answers if "lease_id" in answer]
        refused = [answer for answer in answers if answer is not won]
        assert {answer["error"] for answer in refused} == {"conflict"}
        assert {answer["current"]["lease_id"] for answer in refused} == {won["lease_id"]}


def test_of_sixteen_sessions_that_take_over_a_silent_one_one_does(
    crowd: Crowd, apollo: Project, ada: Caller
) -> None:
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=20)):
        silent = acquire_lease(caller=ada.in_session("silent"), paths=["src/**"], minutes=600)["lease_id"]
    calls = [[file("lease", paths=["src/x"], agent="ada", session=f"window-{n}")] for n in range(16)]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer.get("error", "none") for answer in answers].count("none") == 1
    assert Event.objects.in_project(apollo).filter(verb="taken_over").count() == 1
    assert Lease.objects.in_project(apollo).get(pk=silent).released_at is not None
    assert Lease.objects.in_project(apollo).filter(released_at=None).count() == 1
