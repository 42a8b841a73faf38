"""A timeline with much in it: bands in place of dots, pairs, the newest as a list, what is left out."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console.timeline import lanes, newest, page, refusals
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from ctxhub.core.refusals.models import Refusal
from memory.decisions import timeline as of_decisions
from messaging import pairs as of_pairs
from messaging import timeline as of_messages
from messaging.models import Delivery, Message
from tests.core.test_timeline_admin import NOON, markup, shown, table, write_at
from tests.hostile import HOSTILE
from tests.marks import unmarked
from tests.messaging.mail import known, send
from tests.people import VIEWER, member
from tracking import timeline as of_files
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def happen(caller: Caller, noun: str, hours_ago: float, count: int = 1) -> None:
    """Events of an agent in the log alone."""
    known(caller)
    agent = Agent.objects.in_project(caller.project_id).get(name=caller.agent)
    at = NOON - timedelta(hours=hours_ago)
    rows = [
        Event(
            project=caller.project, agent=agent, noun=noun, verb="updated", ref=f"{noun}:{n}", at=at, data={}
        )
        for n in range(count)
    ]
    Event.objects.in_project(caller.project_id).bulk_create(rows)


def told(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split()).replace(" :", ":")


# -- Bands -----------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_a_row_of_many_ticks_is_a_band_and_one_of_few_has_dots(
    client: Client, ada: Caller, ben: Caller
) -> None:
    for n in range(lanes.MOST_DOTS + 1):
        happen(ada, "decision", 0.4 + n / 3, count=n + 1)
    for n in range(lanes.MOST_DOTS):
        happen(ben, "decision", 0.4 + n / 3)
    html = shown(client)
    assert html.count('<rect class="ctx-tick-decisions"') == lanes.MOST_DOTS + 1
    assert html.count('<circle class="ctx-tick-decisions" cx') - 1 == lanes.MOST_DOTS  # One of the legend.


@time_machine.travel(NOON, tick=False)
def test_a_quarter_of_the_highest_bar_is_half_as_high_and_the_legend_says_so(
    client: Client, ada: Caller
) -> None:
    for n in range(lanes.MOST_DOTS + 1):
        happen(ada, "decision", 0.4 + n / 3, count=40 if n == 3 else 10)
    html = shown(client)
    bars = re.findall(r'<rect class="ctx-tick-decisions".*?height="([\d.]+)"><title>(\d+) decisions', html)
    assert {count: float(height) for height, count in bars} == {"40": lanes.BAND, "10": lanes.BAND / 2}
    assert "the highest bar is 40 in 20 minutes" in told(html)


# -- Messages --------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_a_message_to_several_is_one_link_with_all_its_ends(client: Client, ada: Caller, ben: Caller) -> None:
    for caller in (ada, ben, ada.speaking_as("cleo")):
        happen(caller, "decision", 3)
    with time_machine.travel(NOON - timedelta(hours=2)):
        send(ada, "Who owns <b>auth</b>?", to=["ben", "cleo"])
    [(label, numbers, drawn)] = re.findall(
        r'<a href="[^"]*" aria-label="([^"]*)" data-lanes="([\d ]+)">(.*?)</a>', shown(client), re.DOTALL
    )
    assert unescape(label) == "ada to ben, cleo, Tue 10:00: Who owns <b>auth</b>?"
    assert numbers == "0 1 2"
    assert drawn.count('class="ctx-end"') == 3


def rows_of_pairs(html: str) -> list[str]:
    [part] = re.findall(r'<ul class="ctx-rows ctx-pairs">(.*?)</ul>', html, re.DOTALL)
    return [told(row) for row in re.findall(r"<li>(.*?)</li>", part, re.DOTALL)]


@pytest.fixture
def conversation(ada: Caller, ben: Caller) -> None:
    known(ben)
    with time_machine.travel(NOON - timedelta(hours=5), tick=False):
        first = send(ada, "May I drop legacy_cart?", to=["ben"], ack=True)
        send(ada, "And legacy_tax?", to=["BEN", "nobody"], ack=True)
        send(ben, "Go on.", to=["ada"], reply_to=first)
        send(ada, "Release at noon.")


@time_machine.travel(NOON, tick=False)
def test_messages_are_told_as_pairs(client: Client, conversation: None) -> None:
    assert sorted(rows_of_pairs(unmarked(shown(client)))) == [
        "ada to → ben 2 messages 1 answered, 0 of 2 acknowledged last 5 hours ago: And legacy_tax?",
        "ada to → everyone 1 message none answered last 5 hours ago: Release at noon.",
        "ada to → nobody 1 message none answered, 0 of 1 acknowledged last 5 hours ago: And legacy_tax?",
        "ben to → ada 1 message none answered last 5 hours ago: Go on.",
    ]


@pytest.mark.every_engine
@time_machine.travel(NOON, tick=False)
def test_a_pair_leads_to_its_messages(client: Client, conversation: None, ada: Caller, ben: Caller) -> None:
    with time_machine.travel(NOON - timedelta(hours=30), tick=False):
        send(ada, "Long ago.", to=["ben"])
    html = shown(client, **{"from": "2026-11-24T01:00", "to": "2026-11-24T12:00"})
    links = re.findall(r'href="(/admin/messaging/message/\?[^"]*)">([\d,]+) message', html)
    assert len(links) == 4
    for url, count in links:
        rows = client.get(unescape(url)).context["cl"].result_list
        assert len(rows) == int(count), url


@time_machine.travel(NOON, tick=False)
def test_messages_to_people_are_a_pair(client: Client, apollo: Project, ada: Caller) -> None:
    with time_machine.travel(NOON - timedelta(hours=1), tick=False):
        send(ada, "Which one?", to=["@people"], choices=["a", "b"])
    assert rows_of_pairs(unmarked(shown(client))) == [
        "ada to → people 1 message none answered last 1 hour ago: Which one?"
    ]


def test_another_projects_messages_are_in_no_pair(client: Client, cy: Caller) -> None:
    send(cy, "A secret.", to=["ada"])
    assert "ctx-pairs" not in shown(client)


# -- What is left out ------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_lanes_that_are_left_out_are_told(
    client: Client, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "LANES_SHOWN", 2)
    for n in range(4):
        happen(ada.speaking_as(f"agent-{n}"), "decision", 3, count=9 - n)
    with time_machine.travel(NOON - timedelta(hours=2), tick=False):
        send(ada.speaking_as("agent-3"), "Hello.", to=["agent-0"])
        send(ada.speaking_as("agent-0"), "Hello.", to=["agent-1"])
        acquire_lease(caller=ada.speaking_as("agent-3"), paths=["src/**"])
    words = told(shown(client))
    assert "The 2 busiest of 4 agents have a lane; the table lists all." in words
    assert "1 of 2 messages drawn: those from a lane to everyone or to another lane." in words
    assert "0 of 1 lease drawn: those of agents with a lane." in words


@time_machine.travel(NOON, tick=False)
def test_each_limit_of_what_is_read_is_told(
    client: Client, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in (
        *((of_messages, "READ"), (of_messages, "ARROWS_SHOWN"), (of_files, "LEASES_SHOWN")),
        *((of_files, "CHANGES_READ"), (of_decisions, "EVENTS_READ"), (of_pairs, "SHOWN")),
        *((refusals, "MARKS_SHOWN"), (newest, "LINES")),
    ):
        monkeypatch.setattr(module, name, 2)
    happen(ben, "memory", 4)
    for n in range(3):
        at = NOON - timedelta(hours=n + 1)
        write_at(at, ada, "decision", action="set", key=f"k{n}", value="v")
        write_at(at, ada, "file", action="record", path=f"src/{n}.py", change="modified")
        write_at(at, ada, "file", action="lease", paths=[f"lib{n}/**"])
        write_at(at, ada, "message", action="send", text=f"Number {n}", to=["ben", f"friend-{n}"])
        refused(ada, minutes_ago=60 * n + 1, count=n + 1)
    words = told(unmarked(shown(client)))
    for sentence in (
        "2 of 3 messages drawn: of the newest 2 those from a lane to everyone or to another lane.",
        "2 of 3 leases counted in the table: the newest, of registered agents.",
        "3 of 6 refusals counted in the table: the newest, of registered agents.",
        "Decisions are told from the newest 2 changes.",
        "Files are told from the newest 2 changes.",
        "Messages are told from the newest 2.",
        "The 2 pairs with the most messages, of 4.",
        "Newest first 2 of 13 events",
    ):
        assert sentence in words, sentence


@time_machine.travel(NOON, tick=False)
def test_refusals_of_names_that_are_no_agents_are_told(client: Client, ada: Caller) -> None:
    known(ada)
    refused(ada, minutes_ago=5)
    refused(ada.speaking_as("nobody"), minutes_ago=6, count=4)
    assert "1 of 5 refusals counted in the table" in told(shown(client))


@time_machine.travel(NOON, tick=False)
def test_nothing_is_told_where_nothing_is_left_out(client: Client, conversation: None) -> None:
    html = shown(client, last="24h")
    assert [told(text) for text in re.findall(r'<p class="ctx-quiet ctx-cap">(.*?)</p>', html)] == []


def refused(caller: Caller, minutes_ago: int, count: int = 1) -> None:
    at = NOON - timedelta(minutes=minutes_ago)
    names: dict[str, Any] = {"name": caller.agent, "folded": caller.agent.casefold()}
    Refusal.objects.in_project(caller.project_id).create(
        project=caller.project,
        code="conflict",
        count=count,
        minute=at,
        first_at=at,
        last_at=at,
        note="No.",
        **names,
    )


# -- The newest ------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_the_newest_come_first_and_alike_ones_are_one_line(client: Client, ada: Caller, ben: Caller) -> None:
    happen(ben, "memory", 5)
    happen(ada, "decision", 3, count=5)
    happen(ada, "memory", 2)
    [part] = re.findall(
        r'<section class="ctx-panel ctx-newest".*?</section>', unmarked(shown(client)), re.DOTALL
    )
    lines = [told(line) for line in re.findall(r"<li>(.*?)</li>", part, re.DOTALL)]
    assert lines == [
        "ada updated memory:0 2 hours ago",
        "ada updated decision:4 , decision:3 , decision:2 and 2 more 3 hours ago",
        "ben updated memory:0 5 hours ago",
    ]


# -- All of it -------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_the_drawing_counts_what_the_table_counts(client: Client, ada: Caller, ben: Caller) -> None:
    for n in range(40):
        happen(ada, "decision", 0.4 + n / 2, count=n % 5 + 1)
        happen(ben, "memory", 0.4 + n / 2)
    happen(ben, "decision", 3, count=7)
    html = shown(client)
    drawn = re.findall(r"<title>(\d+) (decisions|knowledge)</title>", html)
    rows = table(html)
    assert sum(int(count) for count, subject in drawn if subject == "decisions") == sum(
        row[0] for row in rows.values()
    )
    assert sum(int(count) for count, subject in drawn if subject == "knowledge") == sum(
        row[1] for row in rows.values()
    )


@pytest.mark.every_engine
@time_machine.travel(NOON, tick=False)
def test_many_agents_and_messages_cost_no_more_statements(client: Client, ada: Caller) -> None:
    def statements() -> int:
        shown(client)
        with CaptureQueriesContext(connection) as captured:
            shown(client)
        return len(captured)

    def act(numbers: range) -> None:
        for n in numbers:
            agent = ada.speaking_as(f"agent-{n}")
            happen(agent, "decision", n % 20 + 1, count=30)
            with time_machine.travel(NOON - timedelta(hours=n % 20 + 1), tick=False):
                send(agent, f"Number {n}", to=["ada", f"friend-{n}"], ack=True)
            refused(agent, minutes_ago=n + 1)

    act(range(1))
    few = statements()
    act(range(1, 25))
    assert statements() == few


@time_machine.travel(NOON, tick=False)
def test_hostile_names_add_no_element_and_no_attribute(client: Client, ada: Caller) -> None:
    def act(name: str) -> set[tuple[str, ...]]:
        sender = Agent.objects.create(project=ada.project, name=name)
        at = NOON - timedelta(hours=1)
        event = Event(
            project=ada.project, agent=sender, noun="message", verb="sent", ref="message:1", at=at, data={}
        )
        event.save()
        message = Message.objects.create(
            project=ada.project, sender=sender, text=name, to_everyone=False, created_at=at
        )
        Delivery.objects.create(
            project=ada.project, message=message, name=name, type=message.type, state=0, priority=2, at=at
        )
        return markup(shown(client))

    expected = act("plain") | act("W" * 100)
    for n, text in enumerate(("مساعد-العربي", "🤖-robot", *HOSTILE)):
        assert act(f"{n} {text}".replace("\0", "")[:100]) == expected, text
