"""Briefings in the admin: the brief of any agent, and what would stop an agent at some files."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from messaging.messages.inbox import find_inbox
from messaging.messages.services import send_message
from sessions.briefs.brief import brief
from tests.marks import unmarked
from tests.people import VIEWER, member, superuser
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

BRIEF = "/admin/agent_sessions/briefing/brief/"
CHECK = "/admin/agent_sessions/briefing/check/"
NASTY = "</title></div><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER)


def shown(client: Client, address: str, **query: Any) -> str:
    page = client.get(address, query)
    assert page.status_code == 200
    return unescape(unmarked(page.content.decode()))


def link_to(name: str) -> str:
    """The name of a registered agent as a link to its page."""
    return (
        f'<a class="ctx-agent" href="/admin/core/agent/{Agent.unscoped.get(name=name).pk}/change/">{name}</a>'
    )


def context(client: Client, address: str, **query: Any) -> Any:
    return client.get(address, query).context


def count_queries(client: Client, address: str, **query: Any) -> int:
    client.get(address, query)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, query).status_code == 200
    return len(queries)


# -- The brief -------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_a_person_reads_what_an_agent_would_be_told(client: Client, ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT with EdDSA")
    page = shown(client, BRIEF, agent="ben", task="the auth of the api")
    assert "decision:api/auth" in page
    assert brief(caller=ben, task="the auth of the api", is_text=True).text() in page


def test_a_row_leads_to_the_page_of_what_it_is_about(client: Client, ada: Caller) -> None:
    row = set_decision(caller=ada, key="api/auth", value="JWT")
    rule = add_constraint(caller=ada, category="security", text="No secrets", priority="critical")
    page = shown(client, BRIEF, agent="ben")
    assert f'href="/admin/memory/decision/{row["id"]}/"' in page
    assert f'href="/admin/memory/constraint/{rule["id"]}/"' in page


def test_the_tokens_of_the_sections_and_the_frame_add_up(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    add_constraint(caller=ada, category="security", text="No secrets", priority="critical")
    found = context(client, BRIEF, agent="ben", shape="answer")["brief"]
    assert [section.name for section in found.sections] == ["constraints", "decisions"]
    assert found.frame + sum(section.tokens for section in found.sections) == found.tokens
    assert json.loads(found.answer)["tokens"] == found.tokens


def test_what_finds_no_room_is_named(client: Client, ada: Caller) -> None:
    for n in range(12):
        set_decision(caller=ada, key=f"api/{n}", value=f"Decision {n} about something")
    [section] = context(client, BRIEF, agent="ben", budget_tokens="100")["brief"].sections
    assert len(section.rows) + section.omitted == 12
    assert {row.ref for row in section.left}.isdisjoint(row.ref for row in section.rows)
    assert f"{section.omitted} left out" in shown(client, BRIEF, agent="ben", budget_tokens="100")


def test_without_a_name_the_agent_asks_that_was_seen_last(client: Client, ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    set_decision(caller=ben, key="api/mail", value="SMTP")
    agents = Agent.objects.in_project(ada.project)
    agents.filter(name="ben").update(last_seen_at=NOON + timedelta(minutes=1))
    assert "What ben gets" in shown(client, BRIEF)


def test_an_empty_project_asks_for_the_name_of_an_agent(client: Client) -> None:
    assert "What would an agent be told now?" in shown(client, BRIEF)
    assert "Nothing bears on this task" in shown(client, BRIEF, agent="newcomer")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"agent": ""}, "This field is required"),
        ({"agent": "x" * 101}, "agent has 101 characters"),
        ({"agent": "${AGENT}"}, "a variable that the client did not fill in"),
        ({"budget_tokens": "59"}, "greater than or equal to 60"),
        ({"budget_tokens": "20001"}, "less than or equal to 20000"),
        ({"budget_tokens": "much"}, "Enter a whole number"),
        ({"shape": "yaml"}, "Select a valid choice"),
        ({"task": "a\0b"}, "Null characters are not allowed"),
    ],
)
def test_a_brief_that_cannot_be_asked_for_is_refused(
    query: dict[str, str], reason: str, client: Client, ada: Caller
) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    page = shown(client, BRIEF, **{"agent": "ben", **query})
    assert reason in page
    assert "What ben gets" not in page


def test_texts_of_agents_stay_texts(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value=NASTY)
    acquire_lease(caller=ada, paths=["src/**"], reason=NASTY)
    for page in (
        client.get(BRIEF, {"agent": NASTY}),
        client.get(CHECK, {"paths": "src/a.py", "intent": NASTY}),
    ):
        assert "<script>alert" not in page.content.decode()
        assert "<img src=x" not in page.content.decode()


def test_reading_a_brief_writes_nothing(client: Client, ada: Caller, ben: Caller) -> None:
    send_message(caller=ada, text="Stop", to=["ben"], priority="critical")
    events, agents = Event.unscoped.count(), Agent.unscoped.count()
    shown(client, BRIEF, agent="nobody yet", shape="answer")
    assert '"mail":1' in shown(client, BRIEF, agent="ben", shape="answer")
    assert (Event.unscoped.count(), Agent.unscoped.count()) == (events, agents)
    assert len(find_inbox(ben.project_id, "ben", NOON, unread=True, limit=9)) == 1


def test_queries_of_a_brief_do_not_grow(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="api/0", value="JWT")
    few = count_queries(client, BRIEF, agent="ben", task="JWT")
    for n in range(1, 12):
        set_decision(caller=ada, key=f"api/{n}", value="JWT")
    assert count_queries(client, BRIEF, agent="ben", task="JWT") == few


# -- The check -------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_anothers_exclusive_lease_is_not_clear(client: Client, ada: Caller) -> None:
    acquire_lease(caller=ada, paths=["src/**"], reason="Big move", minutes=30)
    page = shown(client, CHECK, paths="src/a.py", agent="ben")
    assert "Not clear for ben" in page
    assert f"<strong>{link_to('ada')}</strong> has an exclusive lease until 12:30Z: src/** (Big move)" in page


def test_the_check_takes_braces_and_refuses_exemptions(client: Client, ada: Caller) -> None:
    acquire_lease(caller=ada, paths=["src/{a,b}.py"])
    assert "Not clear for ben" in shown(client, CHECK, paths="src/{b,c}.py", agent="ben")
    assert "begins with '!'" in shown(client, CHECK, paths="!src/a.py", agent="ben")


def test_a_change_by_another_is_not_clear(client: Client, ada: Caller) -> None:
    record_change(caller=ada, path="src/a.py", change="modified", description="Split it")
    with time_machine.travel(NOON + timedelta(minutes=5)):
        page = shown(client, CHECK, paths="src/a.py")
    assert f"<strong>{link_to('ada')}</strong> modified 5 min ago: src/a.py: Split it" in page


def test_ones_own_lease_and_change_are_clear(client: Client, ada: Caller) -> None:
    acquire_lease(caller=ada, paths=["src/**"])
    record_change(caller=ada, path="src/a.py", change="modified")
    assert "Clear for ada" in shown(client, CHECK, paths="src/a.py", agent="ada")


def test_what_must_hold_is_shown_with_its_reasons(client: Client, ada: Caller) -> None:
    add_constraint(caller=ada, category="security", text="No secrets in logs")
    set_decision(caller=ada, key="api/auth", value="JWT", paths=["src/api/**"])
    page = shown(client, CHECK, paths="src/api/a.py\r\nsrc/web/b.py")
    assert "Nobody else has an exclusive lease here" in page
    assert ">everywhere<" in page
    assert ">path src/api/**<" in page


def test_more_than_twenty_rows_are_counted(client: Client, ada: Caller) -> None:
    for n in range(25):
        add_constraint(caller=ada, category="security", text=f"Rule {n}")
    found = {section.title: section for section in context(client, CHECK, paths="a.py")["check"].sections}
    assert (len(found["What must hold"].rows), found["What must hold"].more) == (20, 5)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"paths": "\n".join(map(str, range(51)))}, "50"),
        ({"paths": "../etc/passwd"}, "paths[0]"),
        ({"paths": "a.py", "agent": "${AGENT}"}, "a variable that the client did not fill in"),
    ],
)
def test_a_check_that_cannot_be_asked_for_is_refused(
    query: dict[str, str], reason: str, client: Client
) -> None:
    page = client.get(CHECK, query)
    assert reason in page.context["problem"]
    assert "ctx-verdict" not in page.content.decode()


@pytest.mark.parametrize("written", ["src/a.py:42", "`src/a.py`", "src/b.py, src/a.py", "@src/a.py"])
def test_a_path_is_understood_as_it_is_written_elsewhere(written: str, client: Client, ada: Caller) -> None:
    acquire_lease(caller=ada, paths=["src/a.py"])
    assert "Not clear for" in shown(client, CHECK, paths=written, agent="ben")


def test_an_address_is_no_path(client: Client) -> None:
    page = client.get(CHECK, {"paths": "file:///home/ada/repo/src/a.py"})
    assert "is an address" in page.context["problem"]


def test_without_paths_only_the_form_is_shown(client: Client) -> None:
    page = shown(client, CHECK, paths=" \n ", agent="ben")
    assert "What would stop me here?" in page
    assert "ctx-verdict" not in page


def test_queries_of_a_check_do_not_grow(client: Client, ada: Caller) -> None:
    set_decision(caller=ada, key="api/0", value="JWT", paths=["src/**"])
    few = count_queries(client, CHECK, paths="src/a.py")
    for n in range(1, 12):
        set_decision(caller=ada, key=f"api/{n}", value="JWT", paths=["src/**"])
    assert count_queries(client, CHECK, paths="src/a.py") == few


# -- Rights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [BRIEF, CHECK])
def test_a_stranger_sees_nothing_of_the_project(address: str, ada: Caller, cy: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT", paths=["src/**"])
    stranger = member(cy.project, username="stranger")
    page = shown(stranger, address, project="apollo", agent="ben", paths="src/a.py")
    assert "api/auth" not in page
    assert "Apollo" not in page


@pytest.mark.parametrize("address", [BRIEF, CHECK])
def test_who_has_several_projects_chooses_one(address: str, ada: Caller, cy: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT", paths=["src/**"])
    root = superuser()
    assert "Choose a project" in shown(root, address, agent="ben", paths="src/a.py")
    assert "api/auth" in shown(root, address, project="apollo", agent="ben", paths="src/a.py")


@pytest.mark.parametrize("address", [BRIEF, CHECK])
def test_the_pages_are_for_people_who_are_signed_in(address: str, db: None) -> None:
    assert Client().get(address).status_code == 302
