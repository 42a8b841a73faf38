"""Visits: since when a person was away, whatever page, browser and process they were on."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts import visits
from ctxhub.core.accounts.visits import LATER, READ_ON_FOR, last_visit, note_visit
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, Visit
from ctxhub.toolbox.dispatch import call
from tests.people import VIEWER, person, signed_in

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
TIMELINE = "/admin/core/event/timeline/"


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


@pytest.fixture
def vi(apollo: Project) -> User:
    return person("vi", apollo, VIEWER)


def visit(client: Client, moment: datetime, page: str = "/admin/memory/decision/") -> str:
    with time_machine.travel(moment, tick=False):
        response = client.get(page)
        assert response.status_code == 200
        LATER.flush()
    return response.content.decode()


def since(user: User, moment: datetime, ends_after: timedelta = visits.ENDS_AFTER) -> datetime | None:
    with time_machine.travel(moment, tick=False):
        return last_visit(user.pk, ends_after)


def test_a_person_who_was_never_here_has_no_last_visit(vi: User) -> None:
    assert since(vi, NOON) is None
    visit(signed_in(vi), NOON)
    assert since(vi, NOON + minutes(20)) is None  # This is the first.


@pytest.mark.every_engine
def test_it_ended_where_nothing_was_done_for_half_an_hour(vi: User) -> None:
    client = signed_in(vi)
    for minute in (0, 20, 40):
        visit(client, NOON + minutes(minute))
    assert since(vi, NOON + minutes(70)) is None
    assert since(vi, NOON + minutes(71)) == NOON + minutes(40)


@pytest.mark.every_engine
def test_it_stays_while_the_person_looks_around_in_any_browser(vi: User) -> None:
    visit(signed_in(vi), NOON)
    morning = NOON + timedelta(hours=20)
    first, second = signed_in(vi), signed_in(vi)
    visit(first, morning, "/admin/")
    visit(first, morning + minutes(10), "/admin/core/agent/")
    first.logout()
    visit(second, morning + minutes(35), "/admin/")
    assert since(vi, morning + minutes(36)) == NOON


def test_what_an_open_page_asks_by_itself_is_no_visit(vi: User, ada: Caller) -> None:
    client = signed_in(vi)
    call(ada, "decision", {"action": "set", "key": "api/auth", "value": "JWT"})
    visit(client, NOON, "/admin/")
    for hour in range(1, 20):
        visit(client, NOON + timedelta(hours=hour), "/admin/overview/")
        visit(client, NOON + timedelta(hours=hour), "/admin/connected/?token=1")
    assert Visit.objects.get(pk=vi.pk).last_at == NOON


def test_an_open_page_goes_on_telling_for_hours(vi: User) -> None:
    client = signed_in(vi)
    visit(client, NOON)
    evening = NOON + timedelta(hours=6)
    visit(client, evening)
    assert since(vi, evening + READ_ON_FOR, READ_ON_FOR) == NOON
    assert since(vi, evening + READ_ON_FOR + minutes(1), READ_ON_FOR) == evening


def test_a_form_is_a_visit(vi: User) -> None:
    client = signed_in(vi)
    with time_machine.travel(NOON, tick=False):
        client.post("/admin/messaging/message/for-you/answer/", {"do": "read:1"})
        LATER.flush()
    assert Visit.objects.get(pk=vi.pk).last_at == NOON


def test_a_page_waits_for_no_write(vi: User) -> None:
    client = signed_in(vi)
    visit(client, NOON)
    with time_machine.travel(NOON + timedelta(days=1)), CaptureQueriesContext(connection) as captured:
        client.get("/admin/memory/decision/")
    assert [query["sql"] for query in captured if "core_visit" in query["sql"]] == []


def test_visits_are_noted_every_three_minutes(vi: User) -> None:
    for second, is_noted in ((0, True), (170, False), (180, True)):
        with time_machine.travel(NOON + timedelta(seconds=second), tick=False):
            note_visit(vi.pk)
            assert bool(LATER.discard()) is is_noted


@pytest.mark.every_engine
def test_what_another_process_has_noted_is_not_written_again(vi: User) -> None:
    entry = (vi.pk, NOON)
    visits._write([entry])
    with CaptureQueriesContext(connection) as captured:
        visits._write([(vi.pk, NOON + minutes(2))])
    assert [query["sql"] for query in captured if not query["sql"].startswith("SELECT")] == []
    assert Visit.objects.get(pk=vi.pk).last_at == NOON


@pytest.mark.every_engine
def test_a_new_visit_begins_once_when_two_processes_note_it(vi: User) -> None:
    visits._write([(vi.pk, NOON)])
    morning = NOON + timedelta(hours=20)
    for second in (0, 1, 200):
        visits._write([(vi.pk, morning + timedelta(seconds=second))])
    assert since(vi, morning + minutes(5)) == NOON


def test_a_person_who_was_removed_is_not_noted(vi: User) -> None:
    user_id = vi.pk
    note_visit(user_id)
    vi.delete()
    assert LATER.flush()
    assert not Visit.objects.filter(pk=user_id).exists()


def test_the_timeline_offers_the_same_period(vi: User, ada: Caller) -> None:
    client = signed_in(vi)
    assert "Since my last visit" not in visit(client, NOON, TIMELINE)
    visit(client, NOON + minutes(20))
    with time_machine.travel(NOON + timedelta(hours=1)):
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": "JWT"})
    assert "Since my last visit" in visit(client, NOON + timedelta(hours=2), TIMELINE)
    page = visit(client, NOON + timedelta(hours=2, minutes=5), f"{TIMELINE}?last=visit")
    assert 'name="from" value="2026-11-24T12:20"' in page
    assert "api/auth" in page
