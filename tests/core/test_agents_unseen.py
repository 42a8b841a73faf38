"""A token names an agent, and makes nobody seen: that is the agent's first call."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.own_tokens import create_own_token, rotate_token
from ctxhub.core.hub.overview import list_agents
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import AccessToken, Agent, Project
from ctxhub.toolbox.dispatch import call
from messaging.messages.services import send_message
from tests.hub import LiveHub, McpClient, RestClient
from tests.people import ADMIN, member, person

NOON = "2026-03-02T12:00:00+00:00"
LATER = timedelta(hours=2)


def by_command(project: Project) -> None:
    call_command("token", "create", "--project", project.slug, "--agent", "ghost", "--plain")


def by_service(project: Project) -> None:
    create_token(project=project, agent="ghost")


def by_admin(project: Project) -> None:
    page = member(project, ADMIN, username="vi")
    form = {"name": "", "agent": "ghost", "scopes": ["read"], "lasts": "30", "once": "form-1"}
    page.post("/admin/core/accesstoken/add/", form)


def by_member(project: Project) -> None:
    owner = person("mel", project)
    caller = Caller(project=project, agent="mel", is_person=True)
    create_own_token(caller=caller, owner=owner, agent="ghost")


def by_rotation(project: Project) -> None:
    rotate_token(create_token(project=project, agent="ghost").row)


WAYS: list[Callable[[Project], None]] = [by_command, by_service, by_admin, by_member, by_rotation]


@pytest.mark.parametrize("make", WAYS)
def test_a_token_makes_no_agent_seen(
    ada: Caller, apollo: Project, make: Callable[[Project], None], capsys: Any
) -> None:
    call(ada, "hub", {"action": "stats"})
    make(apollo)
    assert AccessToken.objects.in_project(apollo).filter(agent__name="ghost").exists()
    assert Agent.objects.in_project(apollo).get(name="ghost").last_seen_at is None
    names = [row[0] for row in list_agents(apollo.pk).rows]
    assert "ada" in names
    assert "ghost" not in names
    assert send_message(caller=ada, text="x", to=["ghost"])["unknown"] == ["ghost"]


@pytest.mark.parametrize("make", [by_service, by_rotation])
def test_a_token_for_a_known_agent_does_not_make_it_seen_again(
    ada: Caller, apollo: Project, make: Callable[[Project], None]
) -> None:
    with time_machine.travel(NOON, tick=False):
        call(Caller(project=apollo, agent="ghost"), "hub", {"action": "stats"})
        seen = Agent.objects.in_project(apollo).get(name="ghost").last_seen_at
    make(apollo)
    assert Agent.objects.in_project(apollo).get(name="ghost").last_seen_at == seen
    assert "unknown" not in send_message(caller=ada, text="x", to=["ghost"])


def test_over_rest_a_token_makes_no_agent_seen(ada_rest: RestClient, ada_mcp: McpClient) -> None:
    ada_mcp.call("hub", "stats")
    made = ada_rest.send("POST", "/api/v1/tokens/", {"agent": "ghost", "scopes": ["read"]})
    assert made.status == 201, made
    assert [item["name"] for item in ada_rest.get("agents/").body["items"]] == ["ada"]
    assert ada_rest.post("messages/", {"text": "x", "to": ["ghost"]}).body["unknown"] == ["ghost"]
    assert [row[0] for row in ada_mcp.call("hub", "agents")["rows"]] == ["ada"]


def test_the_first_call_makes_it_seen(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    with time_machine.travel(NOON, tick=False):
        token = create_token(project=apollo, agent="ghost").secret
    before = clock.now()
    hub.mcp(token).call("hub", "stats")
    agent = Agent.objects.in_project(apollo).get(name="ghost")
    assert agent.last_seen_at is not None
    assert agent.created_at >= before, "it is first seen with its first call"
    assert "ghost" in [item["name"] for item in ada_rest.get("agents/").body["items"]]
    assert "unknown" not in ada_rest.post("messages/", {"text": "x", "to": ["ghost"]}).body


def test_what_was_sent_before_its_first_call_is_in_its_inbox(
    ada: Caller, hub: LiveHub, apollo: Project
) -> None:
    send_message(caller=ada, text="to all, before the token")
    token = create_token(project=apollo, agent="ghost").secret
    send_message(caller=ada, text="to all, after it")
    send_message(caller=ada, text="to it", to=["ghost"])
    inbox = hub.mcp(token).call("message", "inbox", format="objects")["items"]
    assert sorted(item["text"] for item in inbox) == [
        "to all, after it",
        "to all, before the token",
        "to it",
    ]


@pytest.mark.every_engine
def test_pages_say_that_it_was_never_seen(ada: Caller, apollo: Project) -> None:
    call(ada, "hub", {"action": "stats"})
    by_service(apollo)
    page: Client = member(apollo, username="vi")
    listed = page.get("/admin/core/agent/")
    assert [str(row) for row in listed.context["cl"].result_list] == ["ada", "ghost"]
    assert "never seen" in listed.content.decode()
    agent = Agent.objects.in_project(apollo).get(name="ghost")
    shown = page.get(f"/admin/core/agent/{agent.pk}/change/").content.decode()
    assert 'agent in apollo, <span class="ctx-is-never">never seen</span></p>' in shown.lower()
    assert "ghost" not in page.get("/admin/").content.decode()
