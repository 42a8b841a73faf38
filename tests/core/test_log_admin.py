"""The log in the admin: its words, its choice of agents, settings before and after, and events by agent."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console.filters import NAMES_OFFERED
from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from ctxhub.toolbox.dispatch import call
from tests.hub import RestClient
from tests.people import VIEWER, member
from tracking.leases.services import acquire_lease, release_leases

pytestmark = pytest.mark.django_db

LOG = "/admin/core/event/"
URL = "/admin/core/event/agents/"
NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def shown(client: Client, url: str, **query: str) -> str:
    response = client.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<.*?>", " ", html).split())


# -- Words -----------------------------------------------------------------------------------------


def test_the_log_speaks_plain_words(client: Client, ada: Caller, ben: Caller) -> None:
    made = acquire_lease(caller=ada, paths=["src/**"])["lease_id"]
    release_leases(caller=ben, lease_id=made, force=True, reason="Silent.")
    [event] = Event.objects.in_project(ada.project_id).filter(verb="force_released")
    for url in (LOG, f"{LOG}{event.pk}/change/", URL):
        page = text_of(shown(client, url))
        assert "released by an administrator" in page
        assert "force_released" not in page, page[page.index("force_released") - 200 :][:300]
    log = shown(client, LOG)
    assert not re.search(r"(?i)\b(by )?(noun|verb)\b", text_of(log))
    assert 'href="?verb=force_released"' in log
    assert ">released by an administrator</bdi>" in log
    assert "kind: lease" in text_of(shown(client, LOG, noun="lease"))


# -- Settings --------------------------------------------------------------------------------------


def test_changed_settings_are_told_before_and_after(
    client: Client, ada: Caller, ada_rest: RestClient
) -> None:
    set_config(
        caller=ada, values={"message_hours": 48, "time_zone": "Europe/Berlin", "holidays": ["2026-12-25"]}
    )
    event = Event.objects.in_project(ada.project_id).get()
    assert event.data["old"] == {"message_hours": 24, "time_zone": "UTC", "holidays": []}
    assert event.data["new"] == {
        "message_hours": 48,
        "time_zone": "Europe/Berlin",
        "holidays": ["2026-12-25"],
    }
    page = text_of(shown(client, f"{LOG}{event.pk}/change/"))
    assert "message_hours 24 → 48" in page
    assert "time_zone UTC → Europe/Berlin" in page
    [row] = ada_rest.get("activity/").body["items"]
    assert sorted(row["note"].split(", ")) == [
        'holidays [] > ["2026-12-25"]',
        "message_hours 24 > 48",
        "time_zone UTC > Europe/Berlin",
    ]


# -- The choice of agents --------------------------------------------------------------------------


def offered(page: str) -> list[str]:
    """What the filter suggests to whoever types a name."""
    known = page.partition('<datalist id="known-agent"')[2].partition("</datalist>")[0]
    return re.findall(r'<option value="(.*?)">', known)


def test_agents_are_a_choice_the_last_seen_first(
    client: Client, ada: Caller, ben: Caller, cy: Caller
) -> None:
    for minutes, caller in ((3, ben), (2, ada), (1, cy)):
        with time_machine.travel(NOON - timedelta(minutes=minutes), tick=False):
            call(caller, "decision", {"action": "set", "key": caller.agent, "value": "x"})
    assert offered(shown(client, LOG)) == ["ada", "ben"]
    page = shown(client, LOG, agent="BEN")
    assert 'aria-current="true"><bdi title="ben">ben</bdi>' in page
    assert client.get(LOG, {"agent": "BEN"}).context["cl"].result_count == 1
    assert offered(shown(client, LOG, agent="zoe"))[0] == "zoe"
    assert client.get(LOG, {"agent": "zoe"}).context["cl"].result_count == 0


@pytest.mark.every_engine
def test_hundreds_of_agents_are_one_query_and_200_choices(client: Client, apollo: Project) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(client, LOG)
        return len(captured)

    Agent.objects.create(project=apollo, name="first", folded="first", last_seen_at=NOON)
    few = queries()
    Agent.unscoped.bulk_create(
        Agent(project=apollo, name=f"a{n}", folded=f"a{n}", last_seen_at=NOON + timedelta(minutes=n))
        for n in range(300)
    )
    assert queries() == few
    names = offered(shown(client, LOG))
    assert (len(names), names[0]) == (NAMES_OFFERED, "a299")
    assert offered(shown(client, LOG, agent="a5"))[0] == "a5"


# -- By agent --------------------------------------------------------------------------------------


def rows(page: str) -> dict[str, str]:
    found = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', page, re.DOTALL)
    return {text_of(name): text_of(cells) for name, cells in found}


@pytest.fixture
def day(ada: Caller, ben: Caller) -> None:
    """Two hours before NOON; what was a week earlier does not count."""
    with time_machine.travel(NOON - timedelta(days=6), tick=False):
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": "cookies"})
    with time_machine.travel(NOON - timedelta(hours=2), tick=False):
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": "JWT"})
        call(ada, "decision", {"action": "set", "key": "api/limits", "value": "10"})
        call(ada, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
        call(ben, "message", {"action": "send", "text": "Hello", "to": ["ada"]})


@time_machine.travel(NOON, tick=False)
def test_events_are_counted_by_agent_kind_and_action(client: Client, day: None) -> None:
    assert rows(shown(client, URL)) == {
        "ada": "3 decision 2 : created 1 , updated 1 file change 1 : modified 1",
        "ben": "1 message 1 : sent 1",
    }
    assert set(rows(shown(client, URL, last="7d"))) == {"ada", "ben"}
    assert rows(shown(client, URL, last="7d"))["ada"].startswith("4 decision 3 ")


@pytest.mark.every_engine
@time_machine.travel(NOON, tick=False)
def test_each_count_leads_to_as_many_rows_of_the_log(client: Client, day: None) -> None:
    links = re.findall(r'href="(/admin/core/event/\?[^"]+)">(?:[a-z ]+ )?(\d+)</a>', shown(client, URL))
    assert len(links) == 2 + 3 + 4
    for url, count in links:
        response = client.get(url.replace("&amp;", "&"))
        assert response.context["cl"].result_count == int(count), url


@time_machine.travel(NOON, tick=False)
def test_the_tabs_keep_the_period_of_the_log(client: Client, day: None) -> None:
    page = shown(client, LOG, **{"from": "2026-11-24T09:00", "project": "apollo"})
    [url] = re.findall(r'href="([^"]+)"[^>]*>By agent', page)
    assert "from=2026-11-24T09%3A00" in url
    assert rows(client.get(url.replace("&amp;", "&")).content.decode())["ben"].startswith("1 ")


def test_another_project_is_not_counted(client: Client, cy: Caller) -> None:
    call(cy, "decision", {"action": "set", "key": "secret/key", "value": "x"})
    for query in ({}, {"project": cy.project.slug}):
        assert rows(shown(client, URL, **query)) == {}


@pytest.mark.every_engine
def test_statements_do_not_grow_with_agents(client: Client, apollo: Project) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(client, URL)
        return len(captured)

    def act(n: int) -> None:
        call(
            Caller(project=apollo, agent=f"w{n}"), "decision", {"action": "set", "key": f"k{n}", "value": "x"}
        )

    act(0)
    few = statements()
    for n in range(1, 12):
        act(n)
    assert statements() == few <= 12
