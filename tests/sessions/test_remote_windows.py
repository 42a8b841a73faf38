"""Windows over HTTP whose session nobody names: any process of the hub finds what belongs to one."""

from dataclasses import replace
from typing import Any

import pytest

from ctxhub.core.accounts.live_sessions import live_sessions, note_session
from ctxhub.core.accounts.speakers import told_session
from ctxhub.core.call_sessions import clean_made_up_session
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, Window, acting
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import HeardSession
from memory.models import Snapshot
from memory.snapshots.services import save_snapshot
from sessions.accesses.services import track_access
from sessions.models import AgentSession, Writing
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import save_session
from sessions.windows.calls import find_session_id
from tests.sessions.given import decide, recorded

pytestmark = pytest.mark.usefixtures("index_is_kept")


def remote(caller: Caller, name: str = "mcp-1a2b3c4d") -> Caller:
    """As each request has it: nothing is left from the last one."""
    return replace(caller, window=Window(name, is_remote=True))


def track(caller: Caller) -> int:
    return track_access(caller=caller, path="a.py", access="viewed")["session"]


def save(caller: Caller, **arguments: Any) -> int:
    return save_session(caller=caller, summary="s", **arguments)["session"]


def name_of(caller: Caller, session: int) -> str:
    return AgentSession.objects.in_project(caller.project).get(pk=session).name


def test_what_it_tracks_is_in_one_session_which_a_save_makes_a_real_one(ada: Caller) -> None:
    opened = track(remote(ada))
    assert track(remote(ada)) == opened
    assert AgentSession.objects.in_project(ada.project).get(pk=opened).is_implicit
    assert save(remote(ada)) == opened
    assert find_session_id(remote(ada)) == track(remote(ada)) == opened


def test_it_saves_a_new_session_where_it_names_none_as_a_process_on_stdio_does(ada: Caller) -> None:
    first, second = save(remote(ada)), save(remote(ada))
    assert first != second
    assert [name_of(ada, session) for session in (first, second)] == ["", "mcp-1a2b3c4d"]
    assert find_session_id(remote(ada)) == second
    assert save(remote(ada), session=first) == first


def test_two_windows_of_an_agent_do_not_mix(ada: Caller) -> None:
    one, two = remote(ada), remote(ada, "mcp-2")
    assert (find_session_id(one), find_session_id(two)) == (None, None)
    first = save(one)
    assert find_session_id(two) is None
    restored = restore_session(caller=two, session=first)["session"]
    assert (find_session_id(one), find_session_id(two)) == (first, restored)
    assert save(two) == restored


def test_it_works_in_what_it_has_restored(ada: Caller) -> None:
    saved = save(remote(ada))
    child = restore_session(caller=remote(ada))["session"]
    assert child != saved
    assert find_session_id(remote(ada)) == child
    assert restore_session(caller=remote(ada))["session"] == child, "nothing was written there"
    assert save(remote(ada)) == child


def test_each_agent_has_a_session_of_its_own_there(ada: Caller) -> None:
    caller = remote(ada)
    first, second = track(caller), track(caller.speaking_as("Ben"))
    assert first != second
    assert [track(caller), track(caller.speaking_as("ben")), track(caller)] == [first, second, first]
    assert save(caller.speaking_as("ben")) == second


def test_a_session_that_somebody_has_named_keeps_its_name(ada: Caller) -> None:
    laptop = save(remote(ada), session="laptop")
    assert name_of(ada, laptop) == "laptop"
    assert find_session_id(remote(ada)) is None


def test_a_name_that_all_sessions_have_taken_leaves_one_without(ada: Caller) -> None:
    for name in ("mcp-1a2b3c4d", "mcp-1a2b3c4d ada"):
        AgentSession.objects.create(project=ada.project, name=name)
    assert name_of(ada, save(remote(ada))) == ""


def test_a_snapshot_and_what_was_written_belong_to_its_session(ada: Caller) -> None:
    opened = track(remote(ada))
    save_snapshot(caller=remote(ada), content="c")
    with recorded(), acting(remote(ada)):
        decide(ada)
    assert Snapshot.objects.in_project(ada.project).get().session_id == opened
    assert Writing.objects.in_project(ada.project).get().session_id == opened


def test_another_project_has_nothing_of_it(ada: Caller, cy: Caller) -> None:
    save(remote(ada))
    assert find_session_id(remote(cy)) is None
    assert name_of(cy, save(remote(cy))) == "mcp-1a2b3c4d"


def test_it_is_live_and_marked_as_made_up(ada: Caller) -> None:
    save(remote(ada), branch="main")
    with write_transaction(ada.project_id):
        note_session(remote(ada), clock.now())
    assert told_session(remote(ada)) == ""
    assert HeardSession.objects.in_project(ada.project).get().made_up
    assert [each.name for each in live_sessions(ada.project_id)] == ["mcp-1a2b3c4d"]


@pytest.mark.parametrize("name", ["mcp-1a2b3c4d", "stdio-9", "mcp-1/reviewer-7"])
def test_a_name_that_a_process_made_up_is_a_word_and_digits(name: str) -> None:
    assert clean_made_up_session(f" {name} ", "x") == name


@pytest.mark.parametrize("name", ["5", "#5", "session:5", "session5", "latest", "mcp-1/", "mcp-é", "${A}"])
def test_what_would_mean_another_session_is_no_made_up_name(name: str) -> None:
    with pytest.raises(InvalidInput, match="Made-Up"):
        clean_made_up_session(name, "Made-Up")
