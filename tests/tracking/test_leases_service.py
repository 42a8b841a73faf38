"""Leases: conflicts, duration, renewal, release, lists and cleanup."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events import cleanup
from ctxhub.core.hub.overview import count_all, list_agents
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import READ, WRITE, Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, LimitReached, NotAllowed, NotFound
from ctxhub.core.kit.holder import Holder
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Event, Project
from ctxhub.toolbox.dispatch import call
from messaging.models import Message
from tests.tables import dump_project
from tests.timing import cpu_seconds
from tracking.leases.granting import Lasting, grant_lease
from tracking.leases.queries import list_leases
from tracking.leases.services import acquire_lease, release_by_force, release_leases, renew_lease
from tracking.models import Lease, LeasePath

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def lease(caller: Caller, *paths: str, **rest: Any) -> int:
    return acquire_lease(caller=caller, paths=paths, **rest)["lease_id"]


def listed(project: Project, **query: Any) -> list[int]:
    return [row[0] for row in list_leases(project.pk, **query).rows]


# -- Acquiring -------------------------------------------------------------------------------------


def test_a_lease_returns_its_fence_and_expiry(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = acquire_lease(caller=ada, paths=["src/api/**", "./docs//x.md"], minutes=30, reason="Rework.")
        [row] = list_leases(ada.project_id).objects()
    lease_id = answer["lease_id"]
    assert answer == {
        "lease_id": lease_id,
        "fence": lease_id,
        "expires": "2026-11-21T12:30:00Z",
        "result": "created",
    }
    assert row == {
        "lease_id": lease_id,
        "fence": lease_id,
        "expires": "2026-11-21T12:30:00Z",
        "paths": ["docs/x.md", "src/api/**"],
        "by": "ada",
        "session": "",
        "exclusive": True,
        "reason": "Rework.",
    }


def test_a_lease_lasts_15_minutes_by_default(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        assert acquire_lease(caller=ada, paths=["a"])["expires"] == "2026-11-21T12:15:00Z"


@pytest.mark.parametrize(
    ("held", "wanted", "is_refused"),
    [
        ("src/api/**", "src/api/auth.py", True),
        ("src/api/", "src/api/v1/*", True),
        ("src/api/auth.py", "src/api/*.py", True),
        ("**/test_*.py", "tests/**", True),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("src/api", "src/api", True),
        ("src/api", "src/api/auth.py", False),
        ("src/*.py", "src/*.ts", False),
        ("src/a.py", "src/A.py", False),
        ("src/**", "docs/**", False),
    ],
)
def test_an_exclusive_lease_conflicts_with_overlapping_paths(
    ada: Caller, ben: Caller, held: str, wanted: str, is_refused: bool
) -> None:
    lease(ada, held)
    if is_refused:
        with pytest.raises(Conflict):
            lease(ben, wanted)
    else:
        lease(ben, wanted)


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (True, True)])
def test_an_exclusive_lease_conflicts_with_a_shared_one(
    ada: Caller, ben: Caller, first: bool, second: bool
) -> None:
    lease(ada, "src/**", exclusive=first)
    with pytest.raises(Conflict):
        lease(ben, "src/a.py", exclusive=second)


def test_shared_leases_overlap(ada: Caller, ben: Caller) -> None:
    assert lease(ada, "src/**", exclusive=False) < lease(ben, "src/**", exclusive=False)


def test_ones_own_leases_never_conflict(ada: Caller) -> None:
    same = Caller(project=ada.project, agent="ADA")
    assert lease(ada, "src/**") < lease(same, "src/a.py") < lease(ada, "src/**", exclusive=False)


def test_a_conflict_names_holder_paths_and_expiry(ada: Caller, ben: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False):
        held = lease(ada, "src/**", "docs/x", minutes=20, reason="Rework.")
        lease(ada, "src/a.py", minutes=5)
        before = dump_project(apollo)
        with pytest.raises(Conflict) as refused:
            lease(ben, "src/a.py")
    error = refused.value.body()
    assert "docs/x, src/** are leased by 'ada' until 2026-11-21T12:20:00Z" in error["message"]
    assert error["current"] == {
        "lease_id": held,
        "by": "ada",
        "paths": ["docs/x", "src/**"],
        "exclusive": True,
        "expires": "2026-11-21T12:20:00Z",
        "reason": "Rework.",
    }
    assert dump_project(apollo) == before


def test_an_expired_lease_frees_its_paths(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        lease(ada, "src/**", minutes=1)
        now.shift(timedelta(seconds=59))
        with pytest.raises(Conflict):
            lease(ben, "src/**")
        now.shift(timedelta(seconds=1))
        assert lease(ben, "src/**")


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ({"paths": []}, "paths"),
        ({"paths": ["a"] * 51}, "50"),
        ({"paths": ["/a"]}, "relative"),
        ({"paths": ["a", "../b"]}, "paths[1]"),
        ({"paths": ["./"]}, "paths[0]"),
        ({"paths": ["ghp_" + "a1B2" * 9]}, "credential"),
        ({"minutes": 0}, "1440"),
        ({"minutes": 1_441}, "1440"),
        ({"reason": "AKIA" + "A1B2C3D4E5F6G7H8"}, "credential"),
        ({"reason": "x" * 65_537}, "65,536"),
    ],
    ids=str,
)
def test_invalid_input_is_refused_and_nothing_written(
    ada: Caller, apollo: Project, arguments: dict[str, Any], about: str
) -> None:
    before = dump_project(apollo)
    with pytest.raises(InvalidInput) as refused:
        acquire_lease(caller=ada, **{"paths": ["a"], **arguments})
    assert about in str(refused.value.body())
    assert dump_project(apollo) == before


def test_a_lease_records_an_event(ada: Caller, apollo: Project) -> None:
    made = lease(ada, "src/**", "docs/", reason="Rework.")
    event = Event.objects.in_project(apollo).get()
    assert (event.noun, event.verb, event.ref) == ("lease", "leased", f"lease:{made}")
    assert event.data == {"paths": ["src/**", "docs/"], "note": "src/**, docs/: Rework."}


# -- Leasing again ---------------------------------------------------------------------------------


def verbs(project: Project) -> list[tuple[str, str]]:
    events = Event.objects.in_project(project).filter(noun="lease").order_by("pk")
    return list(events.values_list("ref", "verb"))


def test_leasing_the_same_paths_again_extends_the_lease(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        made = acquire_lease(caller=ada, paths=["src/**", "docs/x"], minutes=15, reason="Rework.")
        now.shift(timedelta(minutes=10))
        again = acquire_lease(caller=ada, paths=["./docs/x", "src/**", "src/**"], minutes=15)
        [row] = list_leases(apollo.pk).objects()
    assert again == {**made, "result": "extended", "expires": "2026-11-21T12:25:00Z"}
    assert (row["expires"], row["reason"]) == ("2026-11-21T12:25:00Z", "Rework.")
    assert LeasePath.objects.in_project(apollo).count() == 2
    ref = f"lease:{made['lease_id']}"
    assert verbs(apollo) == [(ref, "leased"), (ref, "renewed")]


@pytest.mark.parametrize(
    ("reason", "stored", "note"),
    [({"reason": "Tests."}, "Tests.", "a; Tests."), ({"reason": ""}, "", "a"), ({"reason": None}, "", "a")],
    ids=str,
)
def test_a_reason_given_again_replaces_the_old_one(
    ada: Caller, apollo: Project, reason: dict[str, Any], stored: str, note: str
) -> None:
    made = lease(ada, "a", minutes=15, reason="Rework.")
    assert lease(ada, "a", minutes=30, **reason) == made
    assert Lease.objects.in_project(apollo).get().reason == stored
    assert Event.objects.in_project(apollo).order_by("-pk")[0].data["note"] == note


def test_a_lease_is_never_shortened_by_leasing_again(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False):
        lease(ada, "a", minutes=60, reason="Rework.")
        before = dump_project(apollo)
        again = acquire_lease(caller=ada, paths=["a"], minutes=15)
        assert (again["result"], again["expires"]) == ("extended", "2026-11-21T13:00:00Z")
        assert dump_project(apollo) == before
        assert acquire_lease(caller=ada, paths=["a"], reason="Tests.")["expires"] == "2026-11-21T13:00:00Z"
    assert [verb for _, verb in verbs(apollo)] == ["leased", "renewed"]


def test_only_the_same_paths_of_the_same_agent_are_extended(ada: Caller, ben: Caller) -> None:
    mine = acquire_lease(caller=ada, paths=["src/**", "docs/x"], exclusive=False)
    others = [
        acquire_lease(caller=ada, paths=["src/**"], exclusive=False),
        acquire_lease(caller=ada, paths=["src/**", "docs/x", "lib"], exclusive=False),
        acquire_lease(caller=ada, paths=["src/", "docs/x"], exclusive=False),
        acquire_lease(caller=ben, paths=["src/**", "docs/x"], exclusive=False),
    ]
    assert {other["result"] for other in others} == {"created"}
    assert len({mine["lease_id"], *(other["lease_id"] for other in others)}) == 5
    same = Caller(project=ada.project, agent="ADA")
    again = acquire_lease(caller=same, paths=["docs/x", "src/**"], exclusive=False)
    assert (again["lease_id"], again["result"]) == (mine["lease_id"], "extended")


@pytest.mark.parametrize("end", ["expired", "released"])
def test_an_ended_lease_is_not_extended(ada: Caller, end: str) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        made = lease(ada, "a")
        if end == "released":
            release_leases(caller=ada, lease_id=made)
        else:
            now.shift(timedelta(minutes=15))
        again = acquire_lease(caller=ada, paths=["a"])
    assert (again["result"], again["fence"] > made) == ("created", True)


def test_an_exclusive_lease_ends_the_agents_shared_one_on_the_same_paths(
    ada: Caller, ben: Caller, apollo: Project
) -> None:
    shared = lease(ada, "src/**", exclusive=False)
    other = lease(ada, "src/a", exclusive=False)
    made = acquire_lease(caller=ada, paths=["src/**"])
    assert (made["result"], made["fence"] > other) == ("created", True)
    assert listed(apollo) == [other, made["lease_id"]]
    assert verbs(apollo)[-2:] == [(f"lease:{shared}", "released"), (f"lease:{made['lease_id']}", "leased")]
    release_leases(caller=ada, all=True)
    assert lease(ben, "src/**")


def test_a_shared_lease_becomes_exclusive_only_if_no_other_agent_shares_it(
    ada: Caller, ben: Caller, apollo: Project
) -> None:
    lease(ada, "src/**", exclusive=False)
    lease(ben, "src/a", exclusive=False)
    before = dump_project(apollo)
    with pytest.raises(Conflict, match="leased by 'ben'"):
        lease(ada, "src/**")
    assert dump_project(apollo) == before


def test_a_shared_lease_beside_ones_own_exclusive_one_says_that_others_still_wait(
    ada: Caller, apollo: Project
) -> None:
    with time_machine.travel(NOON, tick=False):
        made = lease(ada, "src/**", minutes=60)
        for result in ("created", "extended"):
            answer = acquire_lease(caller=ada, paths=["src/**"], exclusive=False)
            assert answer["result"] == result
            assert f"lease:{made} on the same paths, exclusively until 2026-11-21T13:00:00Z" in answer["hint"]
        again = acquire_lease(caller=ada, paths=["src/**"])
        assert (again["lease_id"], again["result"]) == (made, "extended")
        assert listed(apollo) == [made]


def test_of_several_from_before_the_one_with_the_highest_fence_is_extended(
    ada: Caller, apollo: Project
) -> None:
    made = lease(ada, "a", minutes=15)
    for _ in range(2):
        copy = Lease.objects.in_project(apollo).get(pk=made)
        copy.pk, copy._state.adding = None, True
        copy.save()
        LeasePath.objects.create(project=apollo, lease=copy, pattern="a")
    assert lease(ada, "a", minutes=60) == copy.pk
    assert len(listed(apollo)) == 3


def test_an_agent_with_200_live_leases_may_extend_one_or_make_a_shared_one_exclusive(ada: Caller) -> None:
    first = lease(ada, "n/0", exclusive=False)
    for n in range(1, 200):
        lease(ada, f"n/{n}")
    assert lease(ada, "n/0", exclusive=False, minutes=60) == first
    assert lease(ada, "n/0") > first
    with pytest.raises(LimitReached):
        lease(ada, "n/200")


# -- Leases of all files ---------------------------------------------------------------------------


@pytest.mark.parametrize("paths", [["**"], ["docs/x", "**/*"], ["**/"], ["*/"], ["./**/**"]], ids=str)
@pytest.mark.parametrize("exclusive", [True, False])
def test_a_lease_of_all_files_lasts_an_hour_at_most(ada: Caller, paths: list[str], exclusive: bool) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        made = acquire_lease(caller=ada, paths=paths, minutes=61, exclusive=exclusive)
        assert made["expires"] == "2026-11-21T13:00:00Z"
        assert "matches every file, so the lease lasts 60 minutes, not 61" in made["hint"]
        now.shift(timedelta(minutes=30))
        again = acquire_lease(caller=ada, paths=paths, minutes=1440, exclusive=exclusive)
        assert (again["expires"], "not 1440" in again["hint"]) == ("2026-11-21T13:30:00Z", True)
        now.shift(timedelta(minutes=30))
        renewed = renew_lease(caller=ada, lease_id=made["lease_id"], minutes=90)
        assert (renewed["expires"], "not 90" in renewed["hint"]) == ("2026-11-21T14:00:00Z", True)
        assert "hint" not in renew_lease(caller=ada, lease_id=made["lease_id"], minutes=60)


@pytest.mark.parametrize("path", ["*", "src/**", "**/*.py", "*/*/**", "[a-z]*/**"])
def test_a_lease_of_some_files_lasts_as_long_as_asked(ada: Caller, path: str) -> None:
    with time_machine.travel(NOON, tick=False):
        made = acquire_lease(caller=ada, paths=[path], minutes=1440)
    assert (made["expires"], "hint" in made) == ("2026-11-22T12:00:00Z", False)


# -- Renewing --------------------------------------------------------------------------------------


def test_a_renewed_lease_lasts_from_now_and_keeps_its_fence(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        made = lease(ada, "a", minutes=10)
        now.shift(timedelta(minutes=9))
        answer = renew_lease(caller=ada, lease_id=made)
        assert answer == {"lease_id": made, "fence": made, "expires": "2026-11-21T12:24:00Z"}
        assert renew_lease(caller=ada, lease_id=made, minutes=60)["expires"] == "2026-11-21T13:09:00Z"
    verbs = Event.objects.in_project(apollo).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["leased", "renewed", "renewed"]


@pytest.mark.parametrize("end", ["expired", "released"])
def test_an_ended_lease_is_not_renewed(ada: Caller, end: str) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        made = lease(ada, "a")
        if end == "released":
            release_leases(caller=ada, lease_id=made)
        else:
            now.shift(timedelta(minutes=15))
        with pytest.raises(Conflict, match=end) as refused:
            renew_lease(caller=ada, lease_id=made)
    assert refused.value.hint == "Lease it again."


def test_another_agents_lease_is_not_renewed(ada: Caller, ben: Caller) -> None:
    made = lease(ada, "a")
    with pytest.raises(NotAllowed, match="held by 'ada'"):
        renew_lease(caller=ben, lease_id=made)


@pytest.mark.parametrize("minutes", [0, 1_441])
def test_a_lease_is_renewed_for_a_day_at_most(ada: Caller, minutes: int) -> None:
    with pytest.raises(InvalidInput, match="minutes"):
        renew_lease(caller=ada, lease_id=lease(ada, "a"), minutes=minutes)


# -- Releasing -------------------------------------------------------------------------------------


def test_a_released_lease_frees_its_paths(ada: Caller, ben: Caller, apollo: Project) -> None:
    made = lease(ada, "src/**")
    assert release_leases(caller=ada, lease_id=made) == {"released": 1}
    assert listed(apollo) == []
    assert lease(ben, "src/**") > made


def test_an_ended_lease_is_released_without_an_error(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        made, other = lease(ada, "a"), lease(ada, "b")
        release_leases(caller=ada, lease_id=made)
        before = dump_project(apollo)
        assert release_leases(caller=ada, lease_id=made) == {"released": 0}
        now.shift(timedelta(minutes=15))
        assert release_leases(caller=ada, lease_id=other) == {"released": 0}
        assert release_leases(caller=ada, all=True) == {"released": 0}
    assert dump_project(apollo) == before


def test_all_releases_only_own_leases(ada: Caller, ben: Caller, apollo: Project) -> None:
    lease(ada, "a")
    lease(ada, "b")
    other = lease(ben, "c")
    assert release_leases(caller=ada, all=True) == {"released": 2}
    assert listed(apollo) == [other]


def test_another_agents_lease_is_released_only_by_force(ada: Caller, ben: Caller, apollo: Project) -> None:
    made = lease(ada, "src/**")
    with pytest.raises(NotAllowed, match="held by 'ada'"):
        release_leases(caller=ben, lease_id=made)
    without = Caller(project=apollo, agent="ben", scopes=frozenset({READ, WRITE}))
    with pytest.raises(NotAllowed, match="admin"):
        release_leases(caller=without, lease_id=made, force=True)
    assert release_leases(caller=ben, lease_id=made, force=True) == {"released": 1}
    event = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (event.verb, str(event.agent)) == ("force_released", "ben")
    assert event.data == {"holder": "ada", "paths": ["src/**"], "note": "held by ada: src/**"}
    assert Lease.objects.in_project(apollo).get().released_by == event.agent


def test_the_reason_of_a_release_is_in_the_log_and_in_a_message_to_the_holder(
    ada: Caller, ben: Caller, apollo: Project
) -> None:
    made = lease(ada, "src/**")
    release_leases(caller=ben, lease_id=made, force=True, reason="She is on holiday.")
    newest, sent = Event.objects.in_project(apollo).order_by("-pk")[:2]
    assert (newest.data["reason"], sent.verb) == ("She is on holiday.", "sent")
    [message] = Message.objects.in_project(apollo)
    assert message.text == "I released your lease on src/**: She is on holiday. Others can lease it now."
    assert list(message.deliveries.values_list("name", flat=True)) == ["ada"]
    own = lease(ben, "lib")
    release_leases(caller=ben, lease_id=own, reason="Done.")
    assert Event.objects.in_project(apollo).order_by("-pk")[0].data["reason"] == "Done."
    assert Message.objects.in_project(apollo).count() == 1


def test_leases_released_together_are_one_message_for_each_holder(
    ada: Caller, ben: Caller, apollo: Project
) -> None:
    eve = Caller(project=apollo, agent="eve")
    ids = [lease(ada, "a"), lease(ada, "b"), lease(eve, "c"), lease(ben, "d")]
    assert release_by_force(caller=ben, lease_ids=ids, reason="Clean slate.") == {"released": 4}
    assert release_by_force(caller=ben, lease_ids=ids) == {"released": 0}
    texts = [message.text for message in Message.objects.in_project(apollo).order_by("pk")]
    assert texts == [
        f"I released your lease on {paths}: Clean slate. Others can lease it now." for paths in ("a, b", "c")
    ]
    verbs = Event.objects.in_project(apollo).filter(verb__contains="released").values_list("verb", flat=True)
    assert sorted(verbs) == ["force_released"] * 3 + ["released"]
    reader = Caller(project=apollo, agent="ben", scopes=frozenset({READ, WRITE}))
    with pytest.raises(NotAllowed):
        release_by_force(caller=reader, lease_ids=ids)


def test_leases_of_many_holders_are_released_together(ada: Caller, apollo: Project) -> None:
    ids = [lease(Caller(project=apollo, agent=f"w{n}"), f"p{n}") for n in range(60)]
    assert release_by_force(caller=ada, lease_ids=ids) == {"released": 60}
    assert Message.objects.in_project(apollo).count() == 60


@pytest.mark.parametrize("reason", ["x" * 65_537, "a\0b", "the key is ghp_" + "1a" * 18])
def test_a_reason_that_cannot_be_stored_releases_nothing(ada: Caller, apollo: Project, reason: str) -> None:
    made = lease(ada, "src/**")
    other = Caller(project=apollo, agent="ada", scopes=frozenset({READ, WRITE}))
    with pytest.raises(InvalidInput, match="reason"):
        release_leases(caller=other, lease_id=made, reason=reason)
    assert listed(apollo) == [made]


def test_a_long_lease_is_cut_in_the_message_about_its_release(
    ada: Caller, ben: Caller, apollo: Project
) -> None:
    made = lease(ada, *(f"{n}/{'x' * 900}" for n in range(50)))
    release_leases(caller=ben, lease_id=made, force=True, reason="é" * 30_000)
    [message] = Message.objects.in_project(apollo)
    assert len(message.text) < 1_300


def test_force_on_an_own_lease_is_an_ordinary_release(ada: Caller, apollo: Project) -> None:
    release_leases(caller=ada, lease_id=lease(ada, "a"), force=True)
    assert Event.objects.in_project(apollo).order_by("-pk")[0].verb == "released"


@pytest.mark.parametrize("arguments", [{}, {"force": True}, {"lease_id": 1, "all": True}])
def test_a_release_names_one_lease_or_all(ada: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"lease_id.*all"):
        release_leases(caller=ada, **arguments)


@pytest.mark.parametrize("lease_id", [0, -1, 999_999, 2**63, 10**30])
def test_an_unknown_lease_is_not_found(ada: Caller, lease_id: int) -> None:
    for operation in (renew_lease, release_leases):
        with pytest.raises(NotFound):
            operation(caller=ada, lease_id=lease_id)


# -- Lists -----------------------------------------------------------------------------------------


@pytest.fixture
def leases(ada: Caller, ben: Caller) -> dict[str, int]:
    return {
        "late": lease(ada, "src/api/**", minutes=60),
        "soon": lease(ben, "docs/*.md", "src/app.py", minutes=5),
        "shared": lease(ben, "lib/**", exclusive=False, minutes=30),
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["soon", "shared", "late"]),
        ({"path": "src/api/auth.py"}, ["late"]),
        ({"path": "src/**"}, ["soon", "late"]),
        ({"path": "*/*.md"}, ["soon", "shared"]),
        ({"path": "**/*.md"}, ["soon", "shared", "late"]),
        ({"path": "other/x"}, []),
        ({"by": "Ben"}, ["soon", "shared"]),
        ({"by": "nobody"}, []),
        ({"by": "ben", "path": "src/"}, ["soon"]),
        ({"limit": 1}, ["soon"]),
    ],
    ids=str,
)
def test_leases_by_each_filter(
    leases: dict[str, int], apollo: Project, query: dict[str, Any], expected: list[str]
) -> None:
    assert listed(apollo, **query) == [leases[name] for name in expected]


@pytest.mark.parametrize("query", [{"path": ".."}, {"limit": 0}, {"cursor": "x"}, {"by": " "}], ids=str)
def test_an_invalid_filter_is_refused(apollo: Project, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_leases(apollo.pk, **query)


@pytest.mark.parametrize("query", [{}, {"path": "f**/"}, {"by": "ada"}], ids=str)
def test_leases_are_paged_without_gap_or_repeat(ada: Caller, apollo: Project, query: dict[str, Any]) -> None:
    with time_machine.travel(NOON, tick=False):
        made = [lease(ada, f"f{n}/x", minutes=5 + n // 4) for n in range(11)]
        found: list[int] = []
        cursor = None
        while True:
            page = list_leases(apollo.pk, limit=3, cursor=cursor, **query)
            found += [row[0] for row in page.rows]
            if not (cursor := page.next):
                break
    assert found == made


def test_agents_and_stats_count_the_live_leases(ada: Caller, ben: Caller, apollo: Project) -> None:
    lease(ada, "a")
    lease(ada, "b")
    release_leases(caller=ben, lease_id=lease(ben, "c"))
    assert count_all(apollo.pk)["leases"] == 2
    assert {row["name"]: row["leases"] for row in list_agents(apollo.pk).objects()} == {"ada": 2, "ben": None}


def test_a_lease_is_opened_by_its_ref_even_when_it_has_ended(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False):
        made = lease(ada, "src/**", reason="Rework.")
        [item] = call(ada, "get", {"refs": [f"lease:{made}"]})["items"]
        assert item == {
            "ref": f"lease:{made}",
            "paths": ["src/**"],
            "by": "ada",
            "exclusive": True,
            "reason": "Rework.",
            "state": "live",
            "created": "2026-11-21T12:00:00Z",
            "expires": "2026-11-21T12:15:00Z",
            "fence": made,
        }
        release_leases(caller=ada, all=True)
        assert call(ada, "get", {"refs": [f"lease:{made}"]})["items"][0]["state"] == "released"
    assert call(ada, "get", {"refs": ["lease:x", f"lease:{made + 1}", f"lease:{10**30}"]})["items"] == []


# -- Many leases, and cleanup ----------------------------------------------------------------------


def test_leasing_executes_as_many_queries_for_50_paths_as_for_1(ada: Caller, ben: Caller) -> None:
    for n in range(20):
        lease(ben, f"other{n}/**")

    def queries(count: int, name: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            lease(ada, *[f"{name}{n}/**" for n in range(count)])
        return len(captured)

    lease(ada, "first")
    assert queries(1, "a") == queries(50, "b") <= 11


def test_old_leases_are_removed_and_their_events_stay(ada: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        lease(ada, "old", "older")
        release_leases(caller=ada, lease_id=lease(ada, "released"))
        now.shift(timedelta(days=29))
        recent = lease(ada, "kept")
        now.shift(timedelta(days=1, minutes=16))
        cleanup.cleanup(apollo.pk)
    assert [row.pk for row in Lease.objects.in_project(apollo)] == [recent]
    assert [row.pattern for row in LeasePath.objects.in_project(apollo)] == ["kept"]
    assert Event.objects.in_project(apollo).filter(verb="leased").count() == 3


def test_another_projects_leases_do_not_exist(leases: dict[str, int], cy: Caller, apollo: Project) -> None:
    before = dump_project(apollo)
    for operation in (
        lambda: renew_lease(caller=cy, lease_id=leases["late"]),
        lambda: release_leases(caller=cy, lease_id=leases["late"]),
        lambda: release_leases(caller=cy, lease_id=leases["late"], force=True),
    ):
        with pytest.raises(NotFound):
            operation()
    assert lease(cy, "src/**")
    assert len(listed(cy.project)) == 1
    assert call(cy, "get", {"refs": [f"lease:{leases['late']}"]})["items"] == []
    assert dump_project(apollo) == before


def test_a_refused_lease_registers_nobody(ada: Caller, ben: Caller, apollo: Project) -> None:
    lease(ada, "a")
    with pytest.raises(CtxhubError):
        lease(ben, "a")
    assert list(Agent.objects.in_project(apollo).values_list("name", flat=True)) == ["ada"]


def test_conflicts_are_found_among_many_ended_leases(ada: Caller, ben: Caller, apollo: Project) -> None:
    with time_machine.travel(NOON, tick=False):
        agent_id = lease(ada, "src/live.py") and Agent.objects.in_project(apollo).get().pk
        ended, moment = sql.stored_time(NOON - timedelta(days=1)), sql.stored_time(NOON - timedelta(days=2))
        records = [(apollo.pk, agent_id, True, "", moment, ended) for _ in range(200)]
        columns = ("project_id", "agent_id", "exclusive", "reason", "created_at", "expires_at")
        ids = sql.insert("tracking_lease", columns, records, "RETURNING id")
        paths = [(apollo.pk, row_id, "src/**", "src") for (row_id,) in ids]
        sql.insert("tracking_leasepath", ("project_id", "lease_id", "pattern", "head"), paths)
        assert lease(ben, "src/other.py")
        with pytest.raises(Conflict):
            lease(ben, "src/live.py")
        assert len(listed(apollo)) == 2


# -- Hostile leases --------------------------------------------------------------------------------


def hostile(kind: str, letter: str, count: int) -> list[str]:
    return [f"{kind.format(chr(97 + n)) * (990 // len(kind.format('a')))}{letter}{n}" for n in range(count)]


def test_globs_are_compared_before_the_write_lock(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[float] = []

    @contextmanager
    def measured(project_id: int) -> Iterator[None]:
        with write_transaction(project_id):
            began = cpu_seconds()
            yield
            held.append(cpu_seconds() - began)

    monkeypatch.setattr("tracking.leases.services.write_transaction", measured)
    for n in range(3):
        lease(ada, *hostile("*[a-m{}]", f"{n}x", 10))
    assert lease(ben, *hostile("?*[!{}]", "y", 10))
    assert len(held) == 4
    assert max(held) < 0.05


def test_leases_granted_meanwhile_are_compared_too(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time ben asks for the write lock, ada got a lease first; of the third, one path is his, too."""
    wanted = [[f"src/{name}{n}/*" for n in range(50)] for name in ("a", "b")] + [["src/*"]]

    @contextmanager
    def overtaken(project_id: int) -> Iterator[None]:
        if wanted and not overtaking:
            overtaking.append(True)
            lease(ada, *wanted.pop(0))
            overtaking.clear()
        with write_transaction(project_id):
            yield

    overtaking: list[bool] = []
    monkeypatch.setattr("tracking.leases.services.write_transaction", overtaken)
    with pytest.raises(Conflict, match="leased by 'ada'"):
        lease(ben, "src/c", *(f"c/{n}/*" for n in range(9)))
    assert wanted == []


def test_who_is_overtaken_again_and_again_is_told_to_try_again(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def overtaken(project_id: int) -> Iterator[None]:
        with write_transaction(project_id):
            Lease.objects.in_project(ada.project).delete()
            for n in range(5):
                grant_lease(ada, Holder("ada"), [f"*/{n}/{i}*" for i in range(10)], Lasting(MINUTE), True, "")
            yield

    monkeypatch.setattr("tracking.leases.services.write_transaction", overtaken)
    with pytest.raises(LimitReached, match="faster than") as raised:
        lease(ben, "y/*")
    assert raised.value.details["retry_after"] == 1


def test_an_agent_holds_at_most_200_live_leases(ada: Caller, ben: Caller, apollo: Project) -> None:
    first = lease(ada, "n/0")
    for n in range(1, 200):
        lease(ada, f"n/{n}")
    with pytest.raises(LimitReached, match="hold 200 live leases"):
        lease(ada, "n/200")
    assert lease(ben, "n/200")
    release_leases(caller=ada, lease_id=first)
    assert lease(ada, "n/0")
