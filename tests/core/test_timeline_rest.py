"""The timeline and the log by agent count what the REST API answers for the same agent and period."""

import re
from collections import Counter
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.test import Client

from ctxhub.console.timeline.ticks import SUBJECT_OF_NOUN, SUBJECTS
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from tests.core.test_timeline_admin import NOON, table, write_at
from tests.hub import RestClient
from tests.marks import unmarked
from tests.messaging.mail import send
from tests.people import VIEWER, member

SINCE = NOON - timedelta(hours=10)
PERIOD = {"project": "apollo", "from": f"{SINCE:%Y-%m-%dT%H:%M}"}


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


@pytest.fixture
def busy(ada: Caller, ben: Caller) -> None:
    """What two agents did in the ten hours before NOON, and some of it before that."""
    for n in range(30):
        at = NOON - timedelta(minutes=25 * n + 1)
        write_at(at, ada, "decision", action="set", key=f"api/{n % 7}", value=str(n))
        write_at(at, ben, "memory", action="add", title=f"Note {n}", content="Text")
        if n % 3 == 0:
            write_at(at, ben, "file", action="record", path=f"src/{n}.py", change="modified")
            with time_machine.travel(at, tick=False):
                send(ada, f"Number {n}", to=["ben"])


def shown(client: Client, page: str) -> str:
    response = client.get(f"/admin/core/event/{page}/", PERIOD)
    assert response.status_code == 200
    return response.content.decode()


def activity(rest: RestClient, agent: str) -> list[dict[str, Any]]:
    """All events of an agent since SINCE, page by page."""
    rows: list[dict[str, Any]] = []
    query = {"since": f"{SINCE:%Y-%m-%dT%H:%M:%SZ}", "by": agent, "limit": 50}
    reply = rest.get("activity/", **query)
    while True:
        assert reply.status == 200
        rows += reply.body["items"]
        if not reply.body["next"]:
            return rows
        reply = rest.get("activity/", **query, cursor=reply.body["next"])


def nouns(events: list[dict[str, Any]]) -> Counter[str]:
    return Counter(event["ref"].partition(":")[0] for event in events)


def test_the_table_and_the_drawing_count_the_activity(
    client: Client, busy: None, ada_rest: RestClient
) -> None:
    with time_machine.travel(NOON, tick=False):
        html = shown(client, "timeline")
    rows, totals = table(html), Counter[str]()
    for agent in ("ada", "ben"):
        events = activity(ada_rest, agent)
        by_subject = Counter(SUBJECT_OF_NOUN.get(noun, "other") for noun in nouns(events).elements())
        assert rows[agent][:6] == [*(by_subject[subject] for subject in SUBJECTS), len(events)]
        totals += by_subject
    drawn = Counter[str]()
    for count, subject in re.findall(r"<title>(\d+) (\w+)</title>", html):
        drawn[subject] += int(count)
    assert drawn == totals


def test_the_log_by_agent_counts_the_activity(client: Client, busy: None, ada_rest: RestClient) -> None:
    with time_machine.travel(NOON, tick=False):
        response = client.get("/admin/core/event/agents/", PERIOD)
    for row in response.context["rows"]:
        events = activity(ada_rest, row.name)
        assert row.events == len(events)
        assert sorted(kind.count for kind in row.kinds) == sorted(nouns(events).values())


def test_a_pair_counts_the_inbox(client: Client, busy: None, ben_rest: RestClient) -> None:
    with time_machine.travel(NOON, tick=False):
        html = unmarked(shown(client, "timeline"))
    since = f"{SINCE:%Y-%m-%dT%H:%M:%SZ}"
    inbox = ben_rest.get("messages/", unread="false", by="ada", since=since, limit=100).body["items"]
    [(url, count)] = re.findall(r'href="(/admin/messaging/message/\?[^"]*)">(\d+) message', html)
    assert int(count) == len(inbox) == client.get(unescape(url)).context["cl"].result_count
