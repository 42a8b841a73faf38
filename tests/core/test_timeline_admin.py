"""The timeline: its periods, what it draws and tells of each agent, and the log of the same period."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Event, Project
from ctxhub.core.refusals.services import WRITER
from ctxhub.toolbox.dispatch import call
from tests.hostile import HOSTILE
from tests.people import VIEWER, member
from tests.query_plans import explained, plan_by_indexes
from tracking.models import Lease

pytestmark = pytest.mark.django_db

URL = "/admin/core/event/timeline/"
NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def shown(client: Client, **query: str) -> str:
    response = client.get(URL, query)
    assert response.status_code == 200
    return response.content.decode()


def refs_in(log: Any) -> list[str]:
    """The refs of the log's rows, from above."""
    return [event.ref for event in log.context["cl"].result_list]


def write_at(moment: datetime, caller: Caller, tool: str, **arguments: object) -> None:
    with time_machine.travel(moment, tick=False):
        call(caller, tool, arguments)


def markup(page: str) -> set[tuple[str, ...]]:
    """The elements of a page, each with the names of its attributes."""
    found: set[tuple[str, ...]] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.add((tag, *(name for name, _ in attrs)))

    Reader().feed(page)
    return found


def table(page: str) -> dict[str, list[int]]:
    """The rows of the table: decisions, knowledge, messages, files, other, events, leases, refusals."""
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page, re.DOTALL)
    return {
        re.sub(r"<.*?>", "", name): [int(cell) for cell in re.findall(r"<td>(\d+)</td>", cells)]
        for name, cells in rows
    }


@pytest.fixture
def night(ada: Caller, ben: Caller) -> None:
    """What Ada and Ben did in the night before NOON, and what Ada did a week earlier."""
    hour = timedelta(hours=1)
    write_at(NOON - timedelta(days=6), ada, "decision", action="set", key="api/auth", value="cookies")
    write_at(NOON - 9 * hour, ada, "decision", action="set", key="api/auth", value="JWT")
    write_at(NOON - 8 * hour, ada, "file", action="record", path="src/api/auth.py", change="modified")
    write_at(NOON - 7 * hour, ada, "file", action="lease", paths=["src/api/**"], minutes=60, reason="Moving")
    write_at(NOON - 6 * hour, ben, "message", action="send", text="Is it JWT?", to=["ada"], priority="high")
    write_at(NOON - 5 * hour, ben, "memory", action="add", title="Note", content="Text")


@time_machine.travel(NOON, tick=False)
def test_the_table_counts_events_by_agent_and_subject(client: Client, night: None, ada: Caller) -> None:
    rows = table(shown(client, last="12h"))
    assert rows == {"ada": [1, 0, 0, 2, 0, 3, 1, 0], "ben": [0, 2, 1, 0, 0, 3, 0, 0]}
    since = Event.objects.in_project(ada.project_id).filter(at__gte=NOON - timedelta(hours=12))
    assert sum(row[5] for row in rows.values()) == since.count()


@time_machine.travel(NOON, tick=False)
def test_the_drawing_has_lanes_ticks_bars_and_arrows(client: Client, night: None) -> None:
    page = shown(client, last="12h")
    assert re.findall(r'class="ctx-lane-name"[^>]*>.*?</title>(\w+)<', page) == ["ada", "ben"]
    ticks = re.findall(r'<circle class="ctx-tick-(\w+)"[^>]*><title>', page)
    assert sorted(ticks) == ["decisions", "files", "files", "knowledge", "messages"]
    assert page.count("<title>ada: src/api/**</title>") == 1
    assert '<g class="ctx-curve ctx-urgent"><title>ben to ada, Tue 06:00: Is it JWT?</title>' in page


@time_machine.travel(NOON, tick=False)
def test_it_tells_what_each_agent_did(client: Client, night: None) -> None:
    page = re.sub(r"\s+", " ", shown(client, last="24h"))
    assert re.search(r"api/auth</a> <del class=\"ctx-old\">cookies</del> <span[^>]*>→</span> JWT", page)
    assert re.search(r"src/api/</a> auth.py <span class=\"ctx-quiet\">1 change", page)
    assert "Is it JWT?</a>" in page


@time_machine.travel(NOON, tick=False)
def test_a_period_has_a_beginning_and_an_end(client: Client, night: None) -> None:
    rows = table(shown(client, **{"from": "2026-11-24T03:30", "to": "2026-11-24T05:30"}))
    assert {name: row[5] for name, row in rows.items()} == {"ada": 2}
    rows = table(shown(client, **{"from": "2026-11-18T00:00"}))
    assert {name: row[5] for name, row in rows.items()} == {"ada": 4, "ben": 3}


@time_machine.travel(NOON, tick=False)
def test_since_yesterday_evening_is_one_click(client: Client, night: None, ada: Caller) -> None:
    [url] = re.findall(r'href="([^"]+)"[^>]*>Since yesterday 18:00', shown(client))
    assert url == f"{URL}?project=apollo&amp;from=2026-11-23T18%3A00"
    page = client.get(url.replace("&amp;", "&")).content.decode()
    assert 'aria-current="page">Since yesterday 18:00' in page
    assert {name: row[5] for name, row in table(page).items()} == {"ada": 3, "ben": 3}


@pytest.mark.parametrize("has_end", [False, True])
def test_other_pages_end_now_unless_an_end_is_chosen(has_end: bool, client: Client, night: None) -> None:
    with time_machine.travel(NOON + timedelta(seconds=30), tick=False):
        begin = f"{NOON - timedelta(hours=18):%Y-%m-%dT%H:%M}"
        end = {"to": f"{NOON:%Y-%m-%dT%H:%M}"} if has_end else {}
        context = client.get(URL, {"from": begin, **end}).context
    assert all(("to=" in context[name]) is has_end for name in ("by_agent_url", "log_url"))


@time_machine.travel(NOON, tick=False)
def test_times_are_in_the_time_zone_of_the_project(client: Client, night: None, ada: Caller) -> None:
    set_config(caller=ada, values={"time_zone": "Asia/Kolkata"})
    page = shown(client, **{"from": "2026-11-24T09:00", "to": "2026-11-24T11:00"})
    assert {name: row[5] for name, row in table(page).items()} == {"ada": 2}  # 03:30 to 05:30 UTC
    assert 'value="2026-11-24T09:00"' in page
    assert "Asia/Kolkata" in page


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"last": "3y"}, "There is no period &#x27;3y&#x27;."),
        ({"from": "noon"}, "A time is written like 2026-11-23T18:00."),
        ({"from": "2026-13-40T10:00"}, "A time is written like 2026-11-23T18:00."),
        ({"from": "9999-12-31T23:59"}, "A time is written like 2026-11-23T18:00."),
        ({"from": "8999-12-31T23:59"}, "The period ends before it begins."),
        ({"from": "2026-11-24T10:00", "to": "2026-11-24T09:00"}, "The period ends before it begins."),
        ({"from": "2025-01-01T00:00"}, "A period has at most 31 days; these are the last."),
    ],
)
@time_machine.travel(NOON, tick=False)
def test_what_cannot_be_read_is_said(client: Client, query: dict[str, str], problem: str) -> None:
    assert problem in shown(client, **query)


@time_machine.travel(NOON, tick=False)
def test_an_empty_period_says_so(client: Client) -> None:
    assert "Nothing happened in this period." in shown(client)


def test_another_project_is_not_shown(client: Client, cy: Caller) -> None:
    call(cy, "decision", {"action": "set", "key": "secret/key", "value": "x"})
    for query in ({}, {"project": cy.project.slug}):
        page = shown(client, **query)
        assert "secret/key" not in page
        assert cy.agent not in table(page)


@pytest.mark.every_engine
def test_statements_do_not_grow_with_what_happened(client: Client, ada: Caller, ben: Caller) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(client)
        return len(captured)

    def act(caller: Caller, n: int) -> None:
        call(caller, "decision", {"action": "set", "key": f"{caller.agent}/{n % 2}", "value": str(n)})
        call(caller, "file", {"action": "record", "path": f"src/{n}/a.py", "change": "modified"})
        call(caller, "file", {"action": "lease", "paths": [f"{caller.agent}/{n}"]})
        call(caller, "message", {"action": "send", "text": f"Number {n}", "to": ["eve"]})

    act(ada, 0)
    few = statements()
    for n in range(1, 8):
        act(ada, n)
        act(ben, n)
    assert statements() <= few
    assert few <= 21


@pytest.mark.every_engine
def test_each_app_is_asked_a_fixed_number_of_times(client: Client, ada: Caller) -> None:
    call(ada, "message", {"action": "send", "text": "Number 1", "to": ["eve"]})
    call(ada, "file", {"action": "lease", "paths": ["src/**"]})
    with CaptureQueriesContext(connection) as captured:
        shown(client)
    # Messages: the newest, whom they are to, the counts by sender and by pair, and how the last ones begin.
    for table, statements in (("messaging_", 5), ('tracking_lease"', 1), ("tracking_leasepath", 1)):
        assert sum(f'FROM "{table}' in query["sql"] for query in captured) == statements, table


def test_the_newest_decisions_are_found_by_time(client: Client, ada: Caller) -> None:
    for n in range(50):
        call(ada, "memory", {"action": "add", "title": f"Note {n}", "content": "Text"})
    call(ada, "decision", {"action": "set", "key": "api/auth", "value": "JWT"})
    plan_by_indexes()
    with CaptureQueriesContext(connection) as captured:
        shown(client)
    [statement] = [query["sql"] for query in captured if "'decision'" in query["sql"]]
    plan = explained(statement)
    assert "core_event_by_time" in plan
    # SQLite sorts events of the same time: the "right part" of the order.
    assert "TEMP B-TREE FOR ORDER BY" not in plan


def test_hostile_texts_add_no_element_and_no_attribute(client: Client, ada: Caller) -> None:
    def act(text: str, path: str) -> None:
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": text})
        call(ada, "file", {"action": "record", "path": path, "change": "modified"})
        call(ada, "file", {"action": "lease", "paths": [path]})
        call(ada, "message", {"action": "send", "text": text, "to": ["eve"], "priority": "high"})

    for n in range(10):
        act(f"Number {n}", f"src/{n}/auth.py")
    expected = markup(shown(client))
    for n, text in enumerate(HOSTILE):
        act(text.replace("\0", ""), f"<b onclick='x'>{n}/\"><script>{n}.py")
        assert markup(shown(client)) == expected, text


@time_machine.travel(NOON, tick=False)
def test_its_link_to_the_log_shows_all_that_it_counts(client: Client, ada: Caller) -> None:
    write_at(NOON - timedelta(minutes=2), ada, "decision", action="set", key="api/auth", value="JWT")
    with time_machine.travel(NOON + timedelta(seconds=40), tick=False):
        call(ada, "decision", {"action": "set", "key": "api/late", "value": "JWT"})
    with time_machine.travel(NOON + timedelta(seconds=50), tick=False):
        [url, *_] = re.findall(r'href="(/admin/core/event/\?[^"]+)">In the log', shown(client))
        listed = refs_in(client.get(url.replace("&amp;", "&")))
    assert listed == ["decision:api/late", "decision:api/auth"]


@pytest.mark.every_engine
@time_machine.travel(NOON, tick=False)
def test_the_log_is_filtered_by_hours(client: Client, night: None, ada: Caller) -> None:
    query = {"from": "2026-11-24T03:30", "to": "2026-11-24T05:30"}
    response = client.get("/admin/core/event/", query)
    [lease] = Lease.objects.in_project(ada.project_id)
    assert refs_in(response) == [lease.ref, "resource:src/api/auth.py"]
    assert "from: 2026-11-24T03:30" in re.sub(r"<.*?>", "", response.content.decode())


def test_the_log_refuses_a_time_that_is_none(client: Client) -> None:
    response = client.get("/admin/core/event/", {"from": "noon"})
    assert response.status_code == 302
    assert response["Location"].endswith("?e=1")


@time_machine.travel(NOON, tick=False)
def test_refusals_are_crosses_in_the_lane_of_who_was_refused(
    client: Client, night: None, ada: Caller, ben: Caller
) -> None:
    call(ada, "file", {"action": "lease", "paths": ["docs/**"]})
    for _ in range(2):
        with pytest.raises(Conflict):
            call(ben, "file", {"action": "lease", "paths": ["docs/a.md"]})
    WRITER.flush()
    with time_machine.travel(NOON + timedelta(minutes=1), tick=False):
        page = shown(client, last="12h")
    assert [row[-1] for row in table(page).values()] == [0, 2]
    assert page.count("<title>ben, Tue 12:00, conflict: ") == 1
