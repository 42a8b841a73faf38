"""Leases of an agent's sessions: who is in whose way, what is taken over, and what a session releases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.accounts.live_sessions import forget_sessions, note_session
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotAllowed, NotFound
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Event, HeardSession
from sessions.checks.check import check
from sessions.models import AgentSession
from sessions.windows.beginning import begin_session
from tracking.changes.locks import check_lock
from tracking.leases.queries import list_leases
from tracking.leases.services import acquire_lease, release_leases, renew_lease
from tracking.models import Lease

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FILE = "src/api/auth.py"


def window(caller: Caller, name: str) -> Caller:
    return caller.in_session(name)


def lease(caller: Caller, *paths: str, **rest: Any) -> int:
    return acquire_lease(caller=caller, paths=paths or [FILE], **rest)["lease_id"]


def heard(caller: Caller) -> None:
    with write_transaction(caller.project_id):
        note_session(caller, clock.now())


def held(caller: Caller) -> list[tuple[list[str], str]]:
    return [(row["paths"], row["session"]) for row in list_leases(caller.project_id).objects()]


# -- Conflicts -------------------------------------------------------------------------------------


def test_two_windows_of_an_agent_are_two_holders(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        first = lease(window(ada, "claude-1a2b"), minutes=30)
    with time_machine.travel(NOON + timedelta(minutes=12), tick=False), pytest.raises(Conflict) as raised:
        lease(window(ada, "claude-9z"))
    assert raised.value.message == (
        f"lease:{first} ({FILE}) is held by another session of yours"
        " (claude-1a2b, last heard of 12 minutes ago, until 12:30Z)."
    )
    assert raised.value.hint == f"If it is over: file release lease_id={first}."
    assert raised.value.details["current"]["session"] == "claude-1a2b"


@pytest.mark.parametrize("name", ["claude-1a2b", "claude-1a2b/reviewer-7"])
def test_a_window_is_not_in_the_way_of_itself_and_its_subagents(ada: Caller, name: str) -> None:
    lease(window(ada, "claude-1a2b"))
    lease(window(ada, name), "src/**")
    assert len(held(ada)) == 2


def test_two_subagents_of_a_window_are_two_holders(ada: Caller) -> None:
    lease(window(ada, "claude-1a2b/reviewer-7"))
    with pytest.raises(Conflict, match="another session of yours"):
        lease(window(ada, "claude-1a2b/reviewer-8"))


def test_shared_leases_of_two_windows_overlap(ada: Caller) -> None:
    lease(window(ada, "one"), exclusive=False)
    lease(window(ada, "two"), exclusive=False)
    assert len(held(ada)) == 2


@pytest.mark.parametrize("session", ["", "claude-1a2b"])
def test_who_names_no_session_is_in_nobodys_way(ada: Caller, session: str) -> None:
    lease(window(ada, session))
    lease(ada, "src/**")
    made_up = Caller(ada.project, "ada", window=Window())
    lease(made_up, "src/api/*")
    lease(window(ada, "codex-1"), "src/api/auth.py") if not session else None
    assert len(held(ada)) == (4 if not session else 3)


def test_another_agent_is_refused_whatever_the_session(ada: Caller, ben: Caller) -> None:
    lease(window(ada, "same"))
    with pytest.raises(Conflict, match="leased by 'ada'"):
        lease(window(ben, "same"))


def test_a_number_names_the_session_that_has_it(ada: Caller) -> None:
    named = AgentSession.objects.create(project=ada.project, name="claude-1a2b")
    unnamed = AgentSession.objects.create(project=ada.project)
    lease(window(ada, "claude-1a2b"))
    lease(window(ada, str(named.pk)), "src/**")
    lease(window(ada, f"session:{unnamed.pk}"), "docs/**")
    assert [session for _, session in held(ada)] == ["claude-1a2b", "claude-1a2b", f"#{unnamed.pk}"]


# -- Extending, renewing, releasing ----------------------------------------------------------------


def test_only_the_very_holder_extends(ada: Caller) -> None:
    first = acquire_lease(caller=window(ada, "one"), paths=[FILE])
    part = acquire_lease(caller=window(ada, "one/part"), paths=[FILE])
    again = acquire_lease(caller=window(ada, "one"), paths=[FILE], minutes=60)
    assert (first["result"], part["result"], again["result"]) == ("created", "created", "extended")
    assert again["lease_id"] == first["lease_id"] != part["lease_id"]


def test_only_the_session_that_holds_it_renews(ada: Caller) -> None:
    held_by_one = lease(window(ada, "one"))
    for other in (ada, window(ada, "two")):
        with pytest.raises(NotAllowed, match=f"lease:{held_by_one} .* another session of yours .*renews it"):
            renew_lease(caller=other, lease_id=held_by_one)
    renew_lease(caller=window(ada, "one"), lease_id=held_by_one)


def test_a_lease_without_a_session_is_renewed_and_released_by_each(ada: Caller) -> None:
    old = lease(ada)
    renew_lease(caller=window(ada, "one"), lease_id=old)
    assert release_leases(caller=window(ada, "two"), lease_id=old) == {"released": 1}


def test_each_session_of_the_agent_releases_by_id(ada: Caller, ben: Caller) -> None:
    lease_id = lease(window(ada, "one"))
    with pytest.raises(NotAllowed):
        release_leases(caller=window(ben, "one"), lease_id=lease_id)
    assert release_leases(caller=window(ada, "two"), lease_id=lease_id) == {"released": 1}


def test_a_session_releases_all_that_it_and_its_parts_hold(ada: Caller) -> None:
    for name in ("one", "one/a", "one/a/b", "one-more", "two", ""):
        lease(window(ada, name), f"{name or 'none'}.py")
        heard(window(ada, name))
    assert release_leases(caller=window(ada, "one"), all=True) == {"released": 3}
    assert release_leases(caller=window(ada, "two/a"), all=True) == {"released": 0}
    assert [session for _, session in held(ada)] == ["one-more", "two", ""]


def test_the_only_session_also_releases_what_was_taken_without_one(ada: Caller, ben: Caller) -> None:
    lease(window(ada, "claude-1a2b"), "a.py")
    lease(ada, "b.py")
    lease(Caller(ada.project, "ada", window=Window()), "c.py")
    lease(ben, "d.py")
    with time_machine.travel(clock.now() - timedelta(minutes=16)):
        heard(window(ada, "long-gone"))
    heard(window(ada, "claude-1a2b/part"))
    assert release_leases(caller=window(ada, "claude-1a2b"), all=True) == {"released": 3}


def test_without_a_session_the_rest_is_told_of(ada: Caller) -> None:
    for name in ("one", "two", ""):
        lease(window(ada, name), f"{name or 'none'}.py")
    answer = release_leases(caller=ada, all=True)
    assert answer == {
        "released": 1,
        "hint": "2 more leases are held by your other sessions (one, two); release each by its lease_id.",
    }


# -- Silence ---------------------------------------------------------------------------------------


def test_a_session_silent_for_15_minutes_is_taken_over(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        old = lease(window(ada, "one"), minutes=60)
    with time_machine.travel(NOON + timedelta(minutes=14), tick=False), pytest.raises(Conflict):
        lease(window(ada, "two"))
    with time_machine.travel(NOON + timedelta(minutes=16), tick=False):
        new = lease(window(ada, "two"))
        assert held(ada) == [([FILE], "two")]
    assert new > old
    event = Event.objects.in_project(ada.project).get(verb="taken_over")
    assert event.ref == f"lease:{old}"
    assert "one was not heard of for 15 minutes" in event.data["note"]


def test_a_session_that_was_heard_of_keeps_what_it_holds(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        lease(window(ada, "one"), minutes=60)
    with time_machine.travel(NOON + timedelta(minutes=10), tick=False):
        heard(window(ada, "one/part"))
    with (
        time_machine.travel(NOON + timedelta(minutes=20), tick=False),
        pytest.raises(Conflict, match="10 minutes ago"),
    ):
        lease(window(ada, "two"))


def test_another_agent_takes_nothing_over(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        lease(window(ada, "one"), minutes=60)
    with (
        time_machine.travel(NOON + timedelta(minutes=50), tick=False),
        pytest.raises(Conflict, match="leased by 'ada'"),
    ):
        lease(window(ben, "two"))


# -- Checks ----------------------------------------------------------------------------------------


def test_check_names_another_session_and_how_to_release(ada: Caller) -> None:
    lease_id = lease(window(ada, "one"), reason="Rotation.")
    answer = check(caller=window(ada, "two"), paths=[FILE])
    assert not answer.is_clear
    [row] = answer.sections["leases"]
    assert row.text == (
        f"exclusive: {FILE} (Rotation.); another session of yours, one, last heard of 0 minutes ago:"
        f" if it is over, file release lease_id={lease_id}"
    )
    assert check_lock(window(ada, "two"), path=FILE)["locked"]


@pytest.mark.parametrize("session", ["one", "one/part", ""])
def test_check_is_clear_for_the_holder(ada: Caller, session: str) -> None:
    lease(window(ada, "one"))
    assert check(caller=window(ada, session), paths=[FILE]).is_clear
    assert not check_lock(window(ada, session), path=FILE)["locked"]


def test_check_is_clear_where_the_other_session_is_silent(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        lease(window(ada, "one"), minutes=60)
    with time_machine.travel(NOON + timedelta(minutes=16), tick=False):
        assert check(caller=window(ada, "two"), paths=[FILE]).is_clear
        assert not check(caller=window(ben, "two"), paths=[FILE]).is_clear


# -- What is noted ---------------------------------------------------------------------------------


def test_a_lease_keeps_its_session(ada: Caller) -> None:
    made_up = Caller(ada.project, "ada", window=Window(name="stdio-9f"))
    lease(window(ada, "one"), "a.py")
    lease(made_up, "b.py")
    lease(ada, "c.py")
    stored = Lease.objects.in_project(ada.project).order_by("pk").values_list("session", "made_up")
    assert [*stored] == [("one", False), ("stdio-9f", True), ("", False)]


def test_a_window_whose_client_tells_its_name_later_goes_on_and_releases_what_it_held(ada: Caller) -> None:
    made_up = replace(ada, window=Window("mcp-1a2b3c4d", is_remote=True))
    by_id, *_ = (lease(made_up, f"{name}.py") for name in "abc")
    real = window(ada, "claude-1a2b")
    heard(made_up)
    heard(real)
    assert check(caller=real, paths=["a.py", "b.py"]).is_clear
    assert lease(real, "a.py") != by_id
    assert release_leases(caller=real, lease_id=by_id)["released"] == 1
    assert release_leases(caller=real, paths=["b.py"])["released"] == 1
    assert held(ada) == [(["c.py"], "mcp-1a2b3c4d"), (["a.py"], "claude-1a2b")]
    assert release_leases(caller=real, all=True)["released"] == 2, "with what only it can have taken"
    assert not held(ada)


def test_of_two_leases_on_a_path_the_very_holders_is_released_by_it(ada: Caller) -> None:
    one, two = (replace(ada, window=Window(name, is_remote=True)) for name in ("mcp-1", "mcp-2"))
    lease(one)
    lease(two)
    assert release_leases(caller=two, paths=[FILE])["released"] == 1
    assert held(ada) == [([FILE], "mcp-1")]
    lease(two)
    with pytest.raises(InvalidInput, match="not what one lease of yours"):
        release_leases(caller=ada, paths=[FILE])


def test_what_a_window_with_a_made_up_name_holds_refuses_other_agents(ada: Caller, ben: Caller) -> None:
    lease(replace(ada, window=Window("mcp-1", is_remote=True)))
    lease(replace(ada, window=Window("mcp-2", is_remote=True)))
    with pytest.raises(Conflict, match="leased by 'ada'"):
        lease(replace(ben, window=Window("mcp-1", is_remote=True)))


def test_sessions_are_forgotten_after_a_week(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        heard(window(ada, "one"))
    with time_machine.travel(NOON + timedelta(days=8), tick=False):
        heard(window(ada, "two"))
        forget_sessions(ada.project_id, clock.now())
    assert [*HeardSession.objects.in_project(ada.project).values_list("name", flat=True)] == ["two"]


# -- A window that goes on under another name ------------------------------------------------------


def test_a_window_that_goes_on_takes_its_leases_along(ada: Caller) -> None:
    for name in ("old", "old/part", "old-er"):
        lease(window(ada, name), f"{name}.py")
    answer = begin_session(caller=window(ada, "new"), continues="old")
    assert answer == {"session": "new", "leases": 2, "claims": 0}
    assert held(ada) == [(["old.py"], "new"), (["old/part.py"], "new/part"), (["old-er.py"], "old-er")]
    events = Event.objects.in_project(ada.project).filter(verb="handed_over")
    assert {event.data["reason"] for event in events} == {"old goes on as new."}


def test_the_old_name_means_the_new_one_from_then_on(ada: Caller) -> None:
    begin_session(caller=window(ada, "new"), continues="old")
    lease(window(ada, "old"))
    assert held(ada) == [([FILE], "new")]
    lease(window(ada, "new"))
    assert check(caller=window(ada, "old"), paths=[FILE]).is_clear


def test_until_a_session_begins_under_the_old_name(ada: Caller) -> None:
    begin_session(caller=window(ada, "new"), continues="old")
    begin_session(caller=window(ada, "old"))
    lease(window(ada, "new"))
    with pytest.raises(Conflict, match="another session of yours"):
        lease(window(ada, "old"))


def test_names_are_followed_through_several_windows_and_rings(ada: Caller) -> None:
    begin_session(caller=window(ada, "two"), continues="one")
    begin_session(caller=window(ada, "three"), continues="two")
    lease(window(ada, "one/part"))
    assert held(ada) == [([FILE], "three/part")]
    begin_session(caller=window(ada, "one"), continues="three")
    assert held(ada) == [([FILE], "one/part")]


def test_who_calls_under_the_old_name_is_heard_of(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        begin_session(caller=window(ada, "new"), continues="old")
        lease(window(ada, "new"), minutes=60)
    with time_machine.travel(NOON + timedelta(minutes=14), tick=False):
        heard(window(ada, "old"))
    with time_machine.travel(NOON + timedelta(minutes=20), tick=False), pytest.raises(Conflict):
        lease(window(ada, "other"))


def test_another_agents_session_of_that_name_keeps_its_own(ada: Caller, ben: Caller) -> None:
    lease(window(ben, "old"))
    begin_session(caller=window(ada, "new"), continues="old")
    assert held(ada) == [([FILE], "old")]


def test_begin_without_a_session_says_how_to_name_one(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="names the session of a window"):
        begin_session(caller=ada, continues="old")


@pytest.mark.parametrize("named", ["#{}", "session {}", "session:{}", "{}"])
def test_a_number_as_people_write_it_is_that_session(ada: Caller, named: str) -> None:
    session = AgentSession.objects.create(project=ada.project, name="claude-1a2b")
    lease(window(ada, named.format(session.pk)))
    assert [name for _, name in held(ada)] == ["claude-1a2b"]


@pytest.mark.parametrize("named", ["latest", "999", "#999"])
def test_a_session_that_is_not_there_leases_nothing(ada: Caller, named: str) -> None:
    with pytest.raises(NotFound):
        lease(window(ada, named))
    assert held(ada) == []


def test_paths_release_what_the_own_session_holds(ada: Caller) -> None:
    lease(window(ada, "one"), exclusive=False)
    lease(window(ada, "two"), exclusive=False)
    assert release_leases(caller=window(ada, "one"), paths=[FILE]) == {"released": 1}
    assert [name for _, name in held(ada)] == ["two"]


@pytest.mark.parametrize("named", [FILE, "src/**"])
def test_paths_that_another_session_holds_are_told_with_its_lease(
    ada: Caller, ben: Caller, named: str
) -> None:
    with time_machine.travel(NOON, tick=False):
        first = lease(window(ada, "claude-1a2b"), minutes=30)
        lease(window(ada, "claude-9z"), "docs/**")
        lease(window(ben, "claude-9z"), "src/other.py", minutes=60)
    with time_machine.travel(NOON + timedelta(minutes=12), tick=False):
        with pytest.raises(NotFound) as raised:
            release_leases(caller=window(ada, "claude-9z"), paths=[named])
        assert release_leases(caller=window(ada, "claude-9z"), lease_id=first) == {"released": 1}
    assert raised.value.message == (
        f"lease:{first} ({FILE}) is held by another session of yours"
        " (claude-1a2b, last heard of 12 minutes ago, until 12:30Z)."
    )
    assert raised.value.hint == f"If it is over: file release lease_id={first}."


def test_of_several_the_last_to_expire_is_told_first(ada: Caller) -> None:
    ids = [
        lease(window(ada, name), f"src/{name}.py", minutes=m) for name, m in (("a", 9), ("b", 20), ("c", 5))
    ]
    with pytest.raises(NotFound) as raised:
        release_leases(caller=window(ada, "two"), paths=["src/**"])
    assert raised.value.message.startswith(f"lease:{ids[1]} (src/b.py) ")
    assert raised.value.hint == f"If it is over: file release lease_id={ids[1]}. Also {ids[0]}, {ids[2]}."


def test_of_many_paths_three_are_told(ada: Caller) -> None:
    many = lease(window(ada, "one"), *[f"src/{n}.py" for n in range(1, 8)])
    told = (
        f"lease:{many} (src/1.py, src/2.py, src/3.py and 4 more) is held by another session of yours (one, "
    )
    for refused in (
        lambda: release_leases(caller=window(ada, "two"), paths=["src/**"]),
        lambda: lease(window(ada, "two"), "src/7.py"),
    ):
        with pytest.raises((NotFound, Conflict)) as raised:
            refused()
        assert raised.value.message.startswith(told)


def test_another_agents_lease_is_not_offered_for_release(ada: Caller, ben: Caller) -> None:
    lease(window(ben, "one"))
    with pytest.raises(NotFound) as raised:
        release_leases(caller=window(ada, "two"), paths=[FILE])
    assert (raised.value.message, raised.value.hint) == (f"You hold no live lease on '{FILE}'.", "")


def test_what_the_own_session_holds_nearby_is_told_first(ada: Caller) -> None:
    lease(window(ada, "one"))
    own = lease(window(ada, "two"), "src/mine.py")
    with pytest.raises(InvalidInput) as raised:
        release_leases(caller=window(ada, "two"), paths=["src/**"])
    assert raised.value.hint == f"Lease {own} is on 'src/mine.py'. Name it by lease_id."
