"""The admin index, the event log and the agents."""

from collections import Counter
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from ctxhub.core.templatetags.moments import lasting
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import delete_decision, deprecate_decision, set_decision
from memory.models import Decision
from tests.core.stale import change, write_rows
from tests.hub import RestClient
from tests.messaging.mail import send
from tests.needs import owe
from tests.people import ADMIN, VIEWER, member, person, signed_in, superuser


def count_queries(client: Client, address: str) -> int:
    client.get(address)  # Django looks up its content types only once.
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def decide(caller: Caller, count: int, prefix: str = "key") -> None:
    for number in range(count):
        key = f"{prefix}/{number:03}"
        set_decision(
            caller=caller, key=key, value=number, tags=["api", "testing"], scopes=[key], layer="data"
        )


def inventory(client: Client, url: str = "/admin/") -> list[str]:
    return [each.text for each in client.get(url).context["inventory"]]


def test_the_index_counts_what_there_is(ada: Caller, ben: Caller, apollo: Project) -> None:
    decide(ada, 3)
    deprecate_decision(caller=ben, key="key/001")
    set_decision(caller=ada, key="draft", value="?", status="draft")
    assert inventory(member(apollo)) == [
        "2 agents active in the last half hour",
        "5 events today",
        "2 decisions in force",
        "1 draft",
        "1 deprecated decision",
    ]


@pytest.mark.every_engine
def test_each_count_leads_to_its_list(ada: Caller, ben: Caller, apollo: Project) -> None:
    write_rows(ada, ["src/**"])
    set_decision(caller=ada, key="draft", value="?", status="draft")
    deprecate_decision(caller=ada, key=set_decision(caller=ada, key="old", value="?")["key"])
    call(ada, "snapshot", {"action": "save", "content": "Chose JWT."})
    call(ada, "scratchpad", {"action": "create_workflow", "name": "Migration"})
    call(ada, "file", {"action": "lease", "paths": ["docs/**"]})
    owe(ada, ben, due={"hours": 2}, priority="high")
    send(ada, type="request")
    change(ben, "src/a.py")
    client = member(apollo)
    amounts = client.get("/admin/").context["inventory"]
    assert len(amounts) == 15
    for each in amounts:
        listed = client.get(each.url).context["cl"]
        assert each.text.startswith(f"{listed.result_count:,} "), each


def test_an_agent_last_seen_hours_ago_is_not_active(ada: Caller, apollo: Project) -> None:
    decide(ada, 1)
    Agent.unscoped.update(last_seen_at=clock.now() - timedelta(hours=2))
    client = member(apollo)
    assert "agent" not in str(inventory(client))
    assert "2 hours ago" in client.get("/admin/").content.decode()


def test_the_chart_has_a_bar_for_each_day(ada: Caller, apollo: Project) -> None:
    decide(ada, 2)
    Event.unscoped.filter(ref="decision:key/000").update(at=clock.now() - timedelta(days=3))
    page = member(apollo).get("/admin/")
    days = [day.events for day in page.context["days"]]
    assert (len(days), days[-1], days[-4], sum(days)) == (14, 1, 1, 2)
    assert [day.is_partial for day in page.context["days"]] == [False] * 13 + [True]
    assert " so far: 1" in page.content.decode()


def test_the_days_are_those_of_the_api_in_the_time_zone_of_the_project(
    ada: Caller, apollo: Project, ada_rest: RestClient
) -> None:
    set_config(caller=ada, values={"time_zone": "Asia/Kathmandu"})
    decide(ada, 6)
    for number, hours in enumerate((1, 7, 20, 30, 31, 70)):
        Event.unscoped.filter(ref=f"decision:key/{number:03}").update(at=clock.now() - timedelta(hours=hours))
    days = member(apollo).get("/admin/?project=apollo").context["days"]
    zone = ZoneInfo("Asia/Kathmandu")
    begin = datetime.combine(days[0].at, time(), zone).isoformat()
    listed = ada_rest.get("activity/", since=begin, limit=200).body["items"]
    by_day = Counter(datetime.fromisoformat(item["at"]).astimezone(zone).date() for item in listed)
    assert {day.at: day.events for day in days if day.events} == by_day
    assert len(by_day) > 2


def test_the_queries_of_the_index_do_not_grow_with_rows(ada: Caller, apollo: Project) -> None:
    client = member(apollo, ADMIN)
    decide(ada, 5)
    few = count_queries(client, "/admin/")
    decide(ada, 50, "more")
    assert count_queries(client, "/admin/") == few
    assert few <= 25


def test_a_person_with_several_projects_can_choose_one(ada: Caller, cy: Caller) -> None:
    decide(ada, 1, "apollo-key")
    decide(cy, 1, "hermes-key")
    client = superuser()
    everything = client.get("/admin/").content.decode()
    assert "apollo-key" in everything
    assert "hermes-key" in everything
    only_hermes = client.get("/admin/?project=hermes").content.decode()
    assert "apollo-key" not in only_hermes
    assert 'href="/admin/memory/decision/?project=hermes"' in only_hermes


def test_an_empty_project_shows_the_first_steps(apollo: Project) -> None:
    page = member(apollo, ADMIN, "ada").get("/admin/").content.decode()
    assert "Connect an agent" in page
    assert reverse("admin:core_accesstoken_add") in page


def test_a_viewer_makes_a_token_of_their_own(apollo: Project) -> None:
    page = member(apollo, VIEWER).get("/admin/").content.decode()
    assert f"{reverse('admin:core_accesstoken_add')}?own=1" in page


def test_a_hub_without_projects_links_to_adding_one(db: None) -> None:
    assert reverse("admin:core_project_add") in superuser().get("/admin/").content.decode()


# -- The log ---------------------------------------------------------------------------------------


def test_an_event_redirects_to_its_object(ada: Caller, apollo: Project) -> None:
    made = set_decision(caller=ada, key="api/auth", value="JWT")
    event = Event.unscoped.get()
    answer = member(apollo).get(reverse("admin:core_event_open", args=[event.pk]))
    assert answer["Location"] == f"/admin/memory/decision/{made['id']}/"


def test_an_event_of_a_deleted_object_says_that_it_has_no_page(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    delete_decision(caller=ada, key="api/auth")
    first = Event.unscoped.earliest("pk")
    page = member(apollo).get(reverse("admin:core_event_open", args=[first.pk]), follow=True)
    assert "decision:api/auth has no page" in page.content.decode()


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 4),
        ("?agent=Ben", 1),
        ("?verb=deprecated", 1),
        ("?noun=decision", 4),
        ("?noun=tag", 0),
        ("?q=001", 2),
    ],
)
def test_the_log_is_filtered(query: str, count: int, ada: Caller, ben: Caller, apollo: Project) -> None:
    decide(ada, 3)
    deprecate_decision(caller=ben, key="key/001")
    page = member(apollo).get(f"/admin/core/event/{query}")
    assert page.context["cl"].result_count == count


@pytest.mark.parametrize("page", ["core_event", "core_agent", "core_tag", "core_scope", "core_layer"])
def test_no_list_runs_a_query_per_row(page: str, ada: Caller, apollo: Project) -> None:
    client = member(apollo, ADMIN)
    url = reverse(f"admin:{page}_changelist")
    decide(ada, 5)
    few = count_queries(client, url)
    for number in range(45):
        worker = Caller(project=apollo, agent=f"worker-{number}")
        set_decision(caller=worker, key=f"more/{number}", value=1, tags=[f"t{number}"], scopes=[f"s{number}"])
    assert count_queries(client, url) == few


def test_nobody_can_change_the_log(ada: Caller, apollo: Project) -> None:
    decide(ada, 1)
    client, event = member(apollo, ADMIN), Event.unscoped.get()
    for page in ("change", "delete"):
        url = reverse(f"admin:core_event_{page}", args=[event.pk])
        assert client.post(url, {"post": "yes", "verb": "deleted"}).status_code == 403
    assert Event.unscoped.get().verb == "created"


def test_refs_and_values_are_escaped(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="<script>alert(1)</script>", value="<b>bold</b>", tags=["<i>"])
    client, decision = member(apollo), Decision.unscoped.get()
    for address in (
        "/admin/",
        "/admin/core/event/",
        "/admin/memory/decision/",
        f"/admin/memory/decision/{decision.pk}/",
    ):
        page = client.get(address).content.decode()
        assert "<script>alert(1)" not in page
        assert "<b>bold" not in page
        assert "<i>" not in page


def test_signing_in_leads_to_the_index(apollo: Project) -> None:
    user = person("ada", apollo)
    user.set_password("correct-horse")
    user.save()
    answer = Client().post("/admin/login/", {"username": "ada", "password": "correct-horse"})
    assert answer["Location"] == "/admin/"
    assert signed_in(user).get(answer["Location"]).status_code == 200


# -- Dates -----------------------------------------------------------------------------------------


def links(client: Client, query: str = "") -> list[tuple[str, int]]:
    page = client.get(f"/admin/core/event/{query}")
    return [(link.title, link.count) for link in page.context["cl"].date_links()]


@time_machine.travel(datetime(2026, 11, 22, 10, tzinfo=UTC), tick=False)
def test_the_log_links_to_its_months_and_days(ada: Caller, apollo: Project) -> None:
    decide(ada, 4)
    for ago, event in zip((0, 0, 3, 40), Event.unscoped.order_by("pk"), strict=True):
        Event.unscoped.filter(pk=event.pk).update(at=clock.now() - timedelta(days=ago))
    client = member(apollo)
    assert links(client) == [("November 2026", 3), ("October 2026", 1)]
    assert links(client, "?at__year=2026&at__month=11") == [("All months", 0), ("Sun 22", 2), ("Thu 19", 1)]
    assert links(client, "?at__year=2026&at__month=11&at__day=19") == [("November 2026", 0), ("Thu 19", 1)]


@pytest.mark.parametrize("query", ["?at__year=2026&at__month=13", "?at__year=0&at__month=1", "?at__year=x"])
def test_an_impossible_date_is_no_error(query: str, apollo: Project) -> None:
    assert member(apollo).get(f"/admin/core/event/{query}", follow=True).status_code == 200


# -- Times, data and links -------------------------------------------------------------------------


@time_machine.travel(datetime(2026, 11, 22, 10, tzinfo=UTC), tick=False)
def test_an_event_older_than_a_day_shows_its_date(ada: Caller, apollo: Project) -> None:
    decide(ada, 1)
    Event.unscoped.update(at=datetime(2026, 11, 12, 8, 53, 7, tzinfo=UTC))
    client, event = member(apollo), Event.unscoped.get()
    row = client.get("/admin/core/event/").content.decode()
    assert 'title="2026-11-12 08:53:07 UTC">2026-11-12 08:53</time>' in row
    page = client.get(reverse("admin:core_event_change", args=[event.pk])).content.decode()
    assert ">2026-11-12 08:53:07 UTC, 1 week ago</time>" in page


def test_the_page_of_an_event_shows_its_data(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    set_decision(caller=ada, key="api/auth", value="OAuth")
    url = reverse("admin:core_event_change", args=[Event.unscoped.latest("pk").pk])
    page = member(apollo).get(url).content.decode()
    assert "<dt>was</dt><dd>1.0.0</dd>" in page


def test_the_page_of_an_event_has_no_link_to_a_deleted_object(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="auth", value="JWT")
    event, client = Event.unscoped.get(), member(apollo)
    pages = (reverse(f"admin:core_event_{name}", args=[event.pk]) for name in ("change", "open"))
    page, link = next(pages), f'href="{next(pages)}"'
    assert link in client.get(page).content.decode()
    delete_decision(caller=ada, key="auth")
    assert link not in client.get(page).content.decode()


# -- Error pages -----------------------------------------------------------------------------------


def test_a_404_page_links_to_the_overview(apollo: Project) -> None:
    page = member(apollo).get("/admin/nowhere/")
    assert page.status_code == 404
    assert "<code>/admin/nowhere/</code>" in page.content.decode()
    assert '<a href="/admin/">Go to the overview</a>' in page.content.decode()


def test_a_403_page_names_the_signed_in_account(apollo: Project) -> None:
    page = member(apollo, VIEWER, "vi").get(reverse("admin:core_tag_add"))
    assert page.status_code == 403
    assert "You are signed in as vi." in page.content.decode()


# -- The theme -------------------------------------------------------------------------------------


def test_pages_load_no_chart_library(ada: Caller, apollo: Project) -> None:
    decide(ada, 1)
    assert "chart.js" not in member(apollo).get("/admin/").content.decode()


# -- Ages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-11-20T11:59:30", "just now"),
        ("2026-11-20T11:01:00", "for 59 min"),
        ("2026-11-19T12:01:00", "for 23 h"),
        ("2026-11-19T11:00:00", "since yesterday"),
        ("2026-11-14T12:00:00", "since Saturday"),
        ("2026-11-13T12:00:00", "since 13 November"),
        ("2025-11-30T12:00:00", "since 30 November 2025"),
        ("2026-11-21T12:00:00", "just now"),
    ],
)
@time_machine.travel(datetime(2026, 11, 20, 12, tzinfo=UTC), tick=False)
def test_ages_in_words(at: str, words: str) -> None:
    assert f">{words}<" in lasting(datetime.fromisoformat(at).replace(tzinfo=UTC))
