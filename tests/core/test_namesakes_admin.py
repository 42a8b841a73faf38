"""Agents with the name of a person in the admin: listed, told on the first page, and settled."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Membership, Project
from ctxhub.management.commands.setup import Command
from memory.decisions.services import set_decision
from tests.needs import told
from tests.people import ADMIN, MEMBER, member

LIST = reverse("admin:core_agent_changelist")
GIVE = reverse("admin:core_agent_give")


@pytest.fixture
def agent(apollo: Project) -> Agent:
    """An agent with the name of a member, from before this was refused."""
    user = User.objects.create_user("grace")
    Membership.objects.bulk_create([Membership(project=apollo, user=user, role=MEMBER)])
    return Agent.objects.create(project=apollo, name="Grace", folded="grace")


def listed(client: object) -> list[str]:
    page = client.get(LIST, {"name": "person"})  # type: ignore[attr-defined]
    return [str(row) for row in page.context["cl"].result_list]


def test_it_is_listed_and_told_until_an_administrator_settles_it(
    ada: Caller, apollo: Project, agent: Agent
) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")  # The first page tells nothing of an empty project.
    admin = member(apollo, ADMIN)
    assert listed(admin) == ["Grace"]
    assert any("An agent has the name of a person: Grace" in sentence for sentence in told(admin))
    page = admin.get(reverse("admin:core_agent_change", args=[agent.pk])).content.decode()
    assert "grace is a person here" in page
    admin.post(GIVE, {"agent": agent.pk})
    agent.refresh_from_db()
    assert agent.kind == Agent.Kind.HUMAN
    assert listed(admin) == []


def test_only_an_administrator_of_the_project_settles_it(
    apollo: Project, hermes: Project, agent: Agent
) -> None:
    assert member(apollo, MEMBER).post(GIVE, {"agent": agent.pk}).status_code == 403
    stranger = member(hermes, ADMIN, "cleo")
    assert listed(stranger) == []
    stranger.post(GIVE, {"agent": agent.pk})
    member(apollo, ADMIN, "vera").get(GIVE)
    agent.refresh_from_db()
    assert agent.kind == Agent.Kind.AGENT


def test_an_agent_with_a_token_is_not_settled_before_the_token(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    row = create_token(project=apollo, agent="grace").row
    user = User.objects.create_user("grace")
    Membership.objects.bulk_create([Membership(project=apollo, user=user)])
    admin = member(apollo, ADMIN)
    assert any(f"Token {row.pk} is pinned to grace" in sentence for sentence in told(admin))
    admin.post(GIVE, {"agent": row.agent_id})
    assert listed(admin) == ["grace"]


def test_setup_tells_of_it(apollo: Project, agent: Agent) -> None:
    told = StringIO()
    Command(stdout=told).tell_clashes()
    assert "project apollo: Grace is refused as the name of a person" in told.getvalue()
