"""The page of an agent: what it does, holds, owes and costs; its numbers are those of the API."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from ctxhub.core.accounts.config import set_config
from ctxhub.core.accounts.named_agents import find_known_names, names_meant
from ctxhub.core.hub.overview import list_agents
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Agent, Project
from ctxhub.core.refusals.services import WRITER as REFUSALS
from ctxhub.core.use.queries import list_use
from ctxhub.core.use.tally import WRITER, Call
from ctxhub.toolbox.dispatch import call
from messaging.messages.services import read_messages_of
from tests.messaging.mail import known, send
from tests.people import ADMIN, MEMBER, VIEWER, member
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 24, 12, 30, tzinfo=UTC)
HOSTILE = '<b>"x"</b>, o\'y'


@pytest.fixture
def ada_works(apollo: Project, ada: Caller, ben: Caller) -> Agent:
    """ada calls, holds, owes, is refused, and has had a session and things given."""
    with time_machine.travel(NOON, tick=False):
        known(ada, ben)
        acquire_lease(caller=ada, paths=["src/api/**", "docs/**"], reason="new tokens")
        acquire_lease(caller=ben, paths=["web/**"])
        with pytest.raises(CtxhubError), Call(ada, "file.lease"):
            call(ada, "file", {"action": "lease", "paths": ["web/**"]})
        send(ben, "Read this at once.", to=["ada"], priority="high", ack=True)
        read = send(ben, "Acknowledge this.", to=["ada"], ack=True)
        read_messages_of(caller=ada, ids=[read])
        send(ben, "An aside.", to=["ada"])
        send(ada, "An answer.", to=["ben", "zoe"])
        call(ada, "session", {"action": "save", "summary": "Half of the tokens."})
        call(ada, "decision", {"action": "set", "key": "api/auth", "value": "JWT"})
    return Agent.objects.in_project(apollo).get(name="ada")


def use(agent: str, project: Project, operation: str, tokens: int, ago: timedelta = timedelta()) -> None:
    with time_machine.travel(NOON - ago, tick=False):
        Call(Caller(project, agent), operation, writes=operation == "decision.set").answered(tokens)


def page(client: Client, agent: Agent) -> Any:
    WRITER.flush()
    REFUSALS.flush()
    with time_machine.travel(NOON, tick=False):
        response = client.get(f"/admin/core/agent/{agent.pk}/change/")
    assert response.status_code == 200
    return response


def part(html: str, label: str) -> str:
    section = html[html.index(f'id="{label}"') :]
    return section[: section.index("</section>")]


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


# -- Its numbers -----------------------------------------------------------------------------------


def test_its_numbers_are_those_of_the_api(apollo: Project, ada_works: Agent) -> None:
    use("ada", apollo, "decision.set", 40)
    use("ADA", apollo, "search", 500, timedelta(hours=3))
    use("ada", apollo, "search", 700, timedelta(days=3))
    use("ada", apollo, "search", 9_000, timedelta(days=15))
    use("ben", apollo, "search", 80)
    response = page(member(apollo, VIEWER), ada_works)
    with time_machine.travel(NOON, tick=False):
        [facts] = [row for row in list_agents(apollo.pk).objects() if row["name"] == "ada"]
        listed = list_use(apollo.pk, since="13d", by=["operation"], of="ada").objects()
    shown = text(response.content.decode())
    assert (facts["leases"], facts["unread"], facts["reads"], facts["writes"], facts["tokens"]) == (
        *(1, 2, 1, 1, 540),
    )
    for number in ("1 lease held", "2 messages unread", "1 read, 1 write in 24 hours", "540 tokens answered"):
        assert number in shown
    used = response.context["use"]
    assert used["total"].tokens == sum(row["tokens"] for row in listed) == 1_240
    assert used["total"].calls == sum(row["calls"] for row in listed) == 3
    assert [(one.name, one.tokens) for one in used["tools"]] == [("search", 1_200), ("decision", 40)]
    tokens, calls = (chart for _, chart in used["charts"])
    assert [(area.name, area.total) for area in tokens.series] == [("search", 1_200), ("decision", 40)]
    assert sum(area.total for area in calls.series) == 3
    assert len(calls.columns) == 14


def test_its_hours_are_those_of_the_project(apollo: Project, ada_works: Agent, ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        set_config(caller=ada, values={"time_zone": "Asia/Kolkata"})
    use("ada", apollo, "search", 500, timedelta(hours=18))  # 18:00 UTC, 23:30 there.
    heat = page(member(apollo, VIEWER), ada_works).context["use"]["by_hour"]
    there = NOON.astimezone(ZoneInfo("Asia/Kolkata"))
    assert [day.name for day in heat.rows][-1] == f"{there:%d %b}"
    assert heat.rows[-1].counts[there.hour + 1 :] == [None] * (23 - there.hour)
    assert [cell.title for cell in heat.cells if cell.level] == ["Mon 23 Nov 23:00: 1 call"]
    assert len(heat.rows) == 14


# -- What it holds, owes, was refused --------------------------------------------------------------


def test_it_shows_what_the_agent_holds_owes_and_was_refused(apollo: Project, ada_works: Agent) -> None:
    html = page(member(apollo, ADMIN), ada_works).content.decode()
    held = part(html, "agent-leases")
    assert "docs/**" in held
    assert "2 paths" in held
    assert "web/**" not in held
    assert 'data-holder="ada"' in held
    owed = text(part(html, "agent-owes"))
    assert "2 acknowledgements" in owed
    assert "2 unread" in owed
    # Urgent first, then newest.
    places = [owed.index(each) for each in ("Read this at once.", "An aside.", "Acknowledge this.")]
    assert places == sorted(places)
    assert "Refused 1 time" in text(part(html, "agent-refusals"))
    mail = text(part(html, "agent-mail"))
    assert "to ben , zoe An answer." in mail
    assert "ben An aside." in mail
    assert "Half of the tokens." in part(html, "agent-sessions")


def test_an_agent_with_nothing_is_told_so(apollo: Project, ada: Caller) -> None:
    known(ada)
    html = page(member(apollo, ADMIN), Agent.objects.in_project(apollo).get(name="ada")).content.decode()
    for said in (
        "It called nothing in the last 14 days.",
        "It holds no path now.",
        "It has read and acknowledged everything: messages that wait",
        "Nothing was refused to it: no lease",
        "It neither wrote nor got a message with",
        "It has had no session: <code",
        "It was given nothing yet by",
    ):
        assert said in html


def test_the_statements_do_not_grow(apollo: Project, ada_works: Agent, ada: Caller, ben: Caller) -> None:
    client = member(apollo, ADMIN)

    def statements() -> list[str]:
        page(client, ada_works)
        with CaptureQueriesContext(connection) as queries:
            page(client, ada_works)
        return [query["sql"][:60] for query in queries]

    use("ada", apollo, "search", 500)
    few = statements()
    with time_machine.travel(NOON, tick=False):
        for number in range(12):
            acquire_lease(caller=ada, paths=[f"lib{number}/**"])
            send(ben, f"mail {number}", to=["ada", f"friend {number}"], ack=True)
            call(ada, "session", {"action": "save", "summary": f"work {number}"})
            use("ada", apollo, f"tool{number}.do", 10, timedelta(hours=number))
    many = statements()
    assert many == few
    assert len(few) <= 29


# -- Who sees what ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "writes", "releases"), [(VIEWER, False, False), (MEMBER, True, False), (ADMIN, True, True)]
)
def test_buttons_are_for_those_who_may(
    apollo: Project, ada_works: Agent, role: Any, writes: bool, releases: bool
) -> None:
    html = page(member(apollo, role), ada_works).content.decode()
    assert ("/admin/messaging/message/add/" in html) is writes
    assert ('popovertarget="release"' in html) is releases


def test_an_agent_of_another_project_is_not_found(hermes: Project, ada_works: Agent) -> None:
    stranger = member(hermes, ADMIN, username="sam")
    response = stranger.get(f"/admin/core/agent/{ada_works.pk}/change/", follow=True)
    html = response.content.decode()
    assert f"There is no agent {ada_works.pk} here." in html
    assert "ada" not in html.replace("adapt", "")


def test_a_hostile_name_is_text_and_one_recipient(apollo: Project) -> None:
    hostile = Caller(apollo, HOSTILE)
    known(hostile)
    client = member(apollo, MEMBER)
    agent = Agent.objects.in_project(apollo).get(folded=HOSTILE.casefold())
    html = page(client, agent).content.decode()
    assert HOSTILE not in html
    assert escape(HOSTILE) in html
    [url] = re.findall(r'href="(/admin/messaging/message/add/[^"]*)"', html)
    form = client.get(url.replace("&amp;", "&")).context["adminform"].form
    read = form.fields["to"].read(form.fields["to"].prepare_value(form.initial["to"]))
    assert names_meant(read, find_known_names(apollo.pk, read), "to") == [HOSTILE]
