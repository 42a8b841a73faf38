"""Cleanup forgets old sessions and accesses, and keeps what is still needed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events import cleanup as retention
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.models import Event
from ctxhub.core.search.index_check import find_faults
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.dispatch import call
from memory.models import Snapshot
from sessions import retention as cleaning
from sessions.accesses.services import track_access
from sessions.models import Access, AgentSession
from sessions.sittings.services import delete_session, save_session
from sessions.windows.opening import open_session
from tracking.files.models import AccessKind
from tracking.models import Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

FRIDAY = datetime(2026, 1, 2, 10, tzinfo=UTC)
HOURS = timedelta(hours=1)
DAYS = 24 * HOURS
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(FRIDAY, tick=False) as traveller:
        yield traveller


def remaining(caller: Caller) -> set[int]:
    return {*AgentSession.objects.in_project(caller.project).values_list("pk", flat=True)}


def cleaned(caller: Caller) -> list[dict[str, Any]]:
    events = Event.objects.in_project(caller.project).filter(verb="cleaned").order_by("pk")
    return [event.data for event in events]


def implicit(caller: Caller) -> int:
    return open_session(caller, register_agent(caller, clock.now()), clock.now())


def access(caller: Caller, session: int) -> None:
    file, _ = Resource.unscoped.get_or_create(project=caller.project, path="a")
    Access.objects.create(
        project=caller.project, resource=file, session_id=session, access=AccessKind.VIEWED, agent=None
    )


def test_a_session_lasts_30_days_from_the_last_save(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"ignore_weekend": True})
    old, kept = (save_session(caller=ada, summary="s")["session"] for _ in range(2))
    time.shift(20 * DAYS)
    save_session(caller=ada, session=kept)
    time.shift(10 * DAYS)
    assert cleanup(ada.project_id).get("sessions", 0) == 0
    time.shift(SECOND)
    assert cleanup(ada.project_id)["sessions"] == 1
    assert remaining(ada) == {kept}
    assert old != kept
    assert cleaned(ada) == [{"sessions": 1, "note": "1 session"}]
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 1


def test_with_0_days_sessions_stay(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"session_days": 0, "access_days": 0})
    session = save_session(caller=ada, summary="s")["session"]
    access(ada, session)
    time.shift(5_000 * DAYS)
    cleanup(ada.project_id)
    assert remaining(ada) == {session}
    assert Access.objects.in_project(ada.project).count() == 1


def test_an_implicit_session_lasts_a_day_and_leaves_no_event(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"session_days": 0})
    implicit(ada)
    time.shift(DAYS)
    cleanup(ada.project_id)
    assert remaining(ada)
    time.shift(SECOND)
    assert cleanup(ada.project_id)["sessions"] == 1
    assert not remaining(ada)
    assert cleaned(ada) == []


def test_a_window_that_only_tracks_keeps_its_session(ada: Caller, time: Any) -> None:
    window = Window()
    caller = replace(ada, window=window)
    session = implicit(caller)
    window.enter("ada", session)
    for _ in range(2):
        time.shift(DAYS - SECOND)
        assert track_access(caller=caller, path="a", access="viewed")["session"] == session
        cleanup(ada.project_id)
    assert remaining(ada) == {session}


def test_an_agent_that_tracks_over_http_stays_in_its_session(ada: Caller, time: Any) -> None:
    session = implicit(ada)
    for _ in range(3):
        time.shift(20 * HOURS)
        assert track_access(caller=ada, path="a", access="viewed")["session"] == session
    time.shift(DAYS)
    assert track_access(caller=ada, path="a", access="viewed")["session"] != session


def test_a_saved_session_is_left_a_day_after_its_last_save(ada: Caller, time: Any) -> None:
    session = save_session(caller=ada, summary="s")["session"]
    time.shift(20 * HOURS)
    assert track_access(caller=ada, path="a", access="viewed")["session"] == session
    time.shift(5 * HOURS)
    assert track_access(caller=ada, path="a", access="viewed")["session"] != session


def test_tracking_moves_the_time_of_its_session_once_a_minute(ada: Caller, time: Any) -> None:
    session = track_access(caller=ada, path="a", access="viewed")["session"]
    times = []
    for seconds in (59, 1, 30):
        time.shift(seconds * SECOND)
        track_access(caller=ada, path="a", access="viewed")
        times.append(AgentSession.unscoped.get(pk=session).updated_at - FRIDAY)
    assert times == [0 * SECOND, 60 * SECOND, 60 * SECOND]


def test_a_saved_session_that_is_worked_in_stays_right_in_the_index(ada: Caller, time: Any) -> None:
    save_session(caller=ada, session="laptop", summary="Herons")
    time.shift(DAYS)
    track_access(caller=ada, session="laptop", path="a", access="viewed")
    assert find_faults([ada.project_id], everything=True) == []


def test_a_saved_session_with_living_children_stays(ada: Caller, time: Any) -> None:
    parent = save_session(caller=ada, summary="s")["session"]
    time.shift(20 * DAYS)
    child = save_session(caller=ada, parent=str(parent), summary="s")["session"]
    time.shift(20 * DAYS)
    cleanup(ada.project_id)
    assert remaining(ada) == {parent, child}
    time.shift(20 * DAYS)
    assert cleanup(ada.project_id)["sessions"] == 2
    assert not remaining(ada)


def test_one_run_deletes_a_bounded_number_of_rows(
    ada: Caller, time: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        access(ada, save_session(caller=ada, summary="s")["session"])
    time.shift(31 * DAYS)
    monkeypatch.setattr(cleaning, "REMOVED_AT_ONCE", 4)
    retention._cleaned[ada.project_id] = (clock.now(), retention.EVERY)
    assert cleaning.clean_sessions(ada.project_id, clock.now(), 30) == {"sessions": 2}
    assert cleanup(ada.project_id)["sessions"] == 3


def test_accesses_last_90_days(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"session_days": 0})
    session = save_session(caller=ada, summary="s")["session"]
    access(ada, session)
    time.shift(90 * DAYS)
    access(ada, session)
    assert cleanup(ada.project_id).get("accesses", 0) == 0
    time.shift(SECOND)
    assert cleanup(ada.project_id)["accesses"] == 1
    assert cleaned(ada) == [{"accesses": 1, "note": "1 access"}]


def test_hub_clear_leaves_sessions(ada: Caller, time: Any) -> None:
    session = save_session(caller=ada, summary="s")["session"]
    time.shift(100 * DAYS)
    retention._cleaned[ada.project_id] = (clock.now(), retention.EVERY)
    call(ada, "hub", {"action": "clear"})
    assert remaining(ada) == {session}


@pytest.mark.parametrize("how", ["service", "orm", "queryset", "cleanup"])
def test_snapshots_lose_the_session_that_is_deleted(how: str, ada: Caller, time: Any) -> None:
    saved = save_session(caller=ada, summary="s")["session"]
    other = save_session(caller=ada, summary="s")["session"]
    for session in (saved, other):
        Snapshot.objects.create(project=ada.project, content="c", summary="s", session_id=session)
    if how == "cleanup":
        time.shift(20 * DAYS)
        save_session(caller=ada, session=other)
        time.shift(11 * DAYS)
        cleanup(ada.project_id)
    elif how == "service":
        delete_session(caller=ada, session=saved)
    elif how == "orm":
        AgentSession.objects.in_project(ada.project).get(pk=saved).delete()
    else:
        AgentSession.objects.in_project(ada.project).filter(pk=saved).delete()
    snapshots = Snapshot.objects.in_project(ada.project).order_by("pk")
    assert [snapshot.session_id for snapshot in snapshots] == [None, other]
    assert call(ada, "hub", {"action": "stats"})["sessions"] == 1
