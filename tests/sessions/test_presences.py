"""When sessions of agents were heard of: a row a session, and no statement that grows with what was read."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from importlib import import_module

import pytest
import time_machine
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock as hub_clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent
from sessions.given.models import Briefing, Presence, Writing
from sessions.given.presences import Seen, write_presences
from tests.sessions.given import KEY, decide, read, recorded, told

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]
fill = import_module("sessions.migrations.0007_presences").fill


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False) as traveller:
        yield traveller


def presences(caller: Caller) -> list[tuple[str, str, str]]:
    """Session, beginning and end of each of the caller's agent, as hours and minutes."""
    found = Presence.objects.in_project(caller.project).filter(agent__name=caller.agent).order_by("pk")
    return [(row.session_name, f"{row.began_at:%d %H:%M}", f"{row.at:%d %H:%M}") for row in found]


def test_what_is_read_and_what_is_written_count(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    with recorded():
        decide(ada)
    clock.shift(60)
    read(ada)
    clock.shift(60)
    read(replace(ada, session="two"))
    read(ben)
    assert presences(ada) == [("", "01 12:00", "01 12:01"), ("two", "01 12:02", "01 12:02")]
    assert presences(ben) == [("", "01 12:02", "01 12:02")]


@pytest.mark.parametrize(
    ("hours", "expected"), [(23, ("", "01 12:00", "02 11:00")), (25, ("", "02 13:00", "02 13:00"))]
)
def test_after_a_day_of_silence_a_session_begins_anew(
    ada: Caller, ben: Caller, clock: time_machine.Traveller, hours: int, expected: tuple[str, str, str]
) -> None:
    decide(ben)
    read(ada)
    clock.shift(timedelta(hours=hours))
    read(ada)
    assert presences(ada) == [expected]


def test_what_is_recorded_late_moves_no_end_back(ada: Caller, clock: time_machine.Traveller) -> None:
    with recorded():
        decide(ada)
    agent = Agent.objects.in_project(ada.project).get(name=ada.agent)
    now = hub_clock.now()
    for minutes in (-5, -1):
        at = now + timedelta(minutes=minutes)
        write_presences(ada.project_id, [Seen(agent.pk, None, "", at, at)])
    assert presences(ada) == [("", "01 11:55", "01 12:00")]


def test_they_are_deleted_after_a_day_however_long_the_rest_is_kept(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    with recorded():
        decide(ada)
    clock.shift(timedelta(hours=20))
    read(ben)
    clock.shift(timedelta(hours=20))
    cleanup(ada.project_id)
    assert (presences(ada), len(presences(ben)), Writing.objects.in_project(ada.project).count()) == (
        [],
        1,
        1,
    )


def test_they_go_with_their_agent(ada: Caller, ben: Caller) -> None:
    decide(ben)
    read(ada)
    Briefing.objects.in_project(ada.project).delete()
    Agent.objects.in_project(ada.project).get(name=ada.agent).delete()
    assert presences(ada) == []


def test_the_upgrade_fills_them_from_the_last_day(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    with recorded():
        decide(ben, key="old")
    clock.shift(timedelta(hours=30))
    for minutes in (0, 7):
        clock.shift(60 * minutes)
        with recorded():
            decide(ada, key=f"key/{minutes}")
        read(ada, f"decision:key/{minutes}")
        read(replace(ada, session="two"), f"decision:key/{minutes}")
    before = presences(ada)
    assert before == [("", "02 18:00", "02 18:07"), ("two", "02 18:00", "02 18:07")]
    Presence.objects.in_project(ada.project).delete()
    fill(apps, None)
    assert sorted(presences(ada)) == before
    assert presences(ben) == []


def test_what_was_read_is_a_sign_itself(ada: Caller, ben: Caller) -> None:
    """A session that is deleted leaves what was read in it in no session, where nothing was heard of."""
    decide(ben)
    read(ada)
    Presence.objects.in_project(ada.project).delete()
    decide(ben, "cookies")
    assert len(told(ada)) == 1


def test_a_change_reads_no_more_after_many_reads(ada: Caller, ben: Caller) -> None:
    """A change asks for the sessions of the decision's readers while it holds the lock."""
    for n in range(30):
        decide(ben, key=f"key/{n}")
    decide(ben)
    for n in range(30):
        read(ada, f"decision:key/{n}")
    read(ada)
    with CaptureQueriesContext(connection) as queries:
        decide(ben, "cookies")
    assert told(ada) != []
    asked = [q["sql"] for q in queries if "agent_sessions_presence" in q["sql"]]
    assert len(asked) == 1
    assert "briefing" not in asked[0]
    assert Presence.objects.in_project(ada.project).filter(agent__name=ada.agent).count() == 1
    assert KEY in told(ada)[0]
