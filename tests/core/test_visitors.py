"""Visitors: agents that only read are deleted after a week; agents with any trace stay."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import ManyToOneRel

from ctxhub.core.accounts import agents, visits
from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.visits import LOOKED_AT_ONCE
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from messaging.messages.services import send_message
from messaging.models import Delivery
from tests.hub import HttpClient, LiveHub
from tracking.leases.services import acquire_lease

WEEK = timedelta(days=7, minutes=1)


def agent_names(project: Project) -> set[str]:
    return set(Agent.objects.in_project(project).values_list("name", flat=True))


def clean_up_after(span: timedelta, project: Project) -> dict[str, int]:
    with time_machine.travel(clock.now() + span, tick=False):
        return cleanup(project.pk)


def read_as(project: Project, name: str) -> Caller:
    caller = Caller(project=project, agent=name)
    call(caller, "hub", {"action": "stats"})
    return caller


def test_an_agent_that_only_read_is_deleted_after_a_week(apollo: Project) -> None:
    read_as(apollo, "eve")
    assert clean_up_after(timedelta(days=6), apollo).get("agents", 0) == 0
    assert agent_names(apollo) == {"eve"}
    visits._looked.clear()
    assert clean_up_after(WEEK, apollo)["agents"] == 1
    assert agent_names(apollo) == set()


def test_one_event_reports_the_number_of_deleted_agents(apollo: Project) -> None:
    for name in ("eve", "fay"):
        read_as(apollo, name)
    clean_up_after(WEEK, apollo)
    [event] = Event.objects.in_project(apollo)
    assert (event.verb, event.ref, event.data) == (
        "cleaned",
        "hub:cleanup",
        {"agents": 2, "note": "2 agents"},
    )


def test_an_agent_that_returns_stays(apollo: Project) -> None:
    read_as(apollo, "eve")
    visits._looked.clear()
    with time_machine.travel(clock.now() + timedelta(days=6), tick=False):
        agents._touched.clear()
        read_as(apollo, "eve")
    assert clean_up_after(WEEK, apollo).get("agents", 0) == 0
    assert agent_names(apollo) == {"eve"}


TRACES: dict[str, Callable[[Caller, Caller], Any]] = {
    "wrote": lambda eve, ada: set_decision(caller=eve, key="a", value=1),
    "holds a lease": lambda eve, ada: acquire_lease(caller=eve, paths=["a"]),
    "wrote to others": lambda eve, ada: send_message(caller=eve, text="x", to=["ada"]),
    "has a token": lambda eve, ada: create_token(project=eve.project, agent="eve", scopes=["read"]),
    "is a person": lambda eve, ada: Agent.objects.in_project(eve.project).update(kind=Agent.Kind.HUMAN),
    "is addressed": lambda eve, ada: send_message(caller=ada, text="x", to=["EVE"], ack=True),
    "was never seen": lambda eve, ada: Agent.objects.in_project(eve.project).update(last_seen_at=None),
}


@pytest.mark.parametrize("trace", TRACES)
def test_an_agent_with_a_trace_stays(apollo: Project, ada: Caller, trace: str) -> None:
    TRACES[trace](read_as(apollo, "eve"), ada)
    clean_up_after(timedelta(days=400), apollo)
    assert "eve" in agent_names(apollo)


def test_an_agent_that_owns_rows_without_events_stays(apollo: Project, ada: Caller) -> None:
    """Importers write rows under other agents' names."""
    eve = read_as(apollo, "eve")
    add_constraint(caller=eve, category="security", text="x")
    Event.objects.in_project(apollo).delete()
    clean_up_after(WEEK, apollo)
    assert agent_names(apollo) == {"eve"}


def test_every_foreign_key_to_an_agent_is_checked() -> None:
    foreign_keys = {
        (relation.related_model._meta.db_table, relation.field.column)
        for relation in Agent._meta.get_fields(include_hidden=True)
        if isinstance(relation, ManyToOneRel)
    }
    checked = {(table, column) for table, column, is_name in visits._references() if not is_name}
    assert checked == foreign_keys
    assert len(foreign_keys) >= 15
    assert ("messaging_delivery", "folded", True) in visits._references()


def test_another_projects_agents_are_left_alone(apollo: Project, hermes: Project) -> None:
    read_as(apollo, "eve")
    read_as(hermes, "eve")
    clean_up_after(WEEK, apollo)
    assert (agent_names(apollo), agent_names(hermes)) == (set(), {"eve"})


def test_many_agents_are_deleted_in_several_rounds(apollo: Project) -> None:
    long_ago = clock.now() - WEEK
    names = [f"visitor {n}" for n in range(LOOKED_AT_ONCE + 5)]
    Agent.unscoped.bulk_create(
        Agent(project=apollo, name=name, folded=name, last_seen_at=long_ago) for name in names
    )
    assert cleanup(apollo.pk)["agents"] == LOOKED_AT_ONCE
    assert clean_up_after(timedelta(hours=1), apollo)["agents"] == 5
    assert agent_names(apollo) == set()


def test_visitors_are_cleaned_up_once_an_hour(apollo: Project) -> None:
    read_as(apollo, "eve")
    cleanup(apollo.pk)
    with time_machine.travel(clock.now() + timedelta(minutes=59), tick=False):
        Agent.objects.in_project(apollo).update(last_seen_at=clock.now() - WEEK)
        assert cleanup(apollo.pk).get("agents", 0) == 0
    assert clean_up_after(timedelta(minutes=60), apollo)["agents"] == 1


def test_agents_named_only_in_headers_are_deleted_after_a_week(hub: LiveHub, apollo: Project) -> None:
    secret = create_token(project=apollo, scopes=["read", "write"]).secret
    for name in ("visitor 1", "visitor 2"):
        client = HttpClient(hub.port, secret, {"Ctxhub-Agent": name})
        assert client.send("GET", "/api/v1/projects/apollo/decisions/").status == 200
    mcp = hub.mcp(secret, **{"Ctxhub-Agent": "visitor 3"})
    assert mcp.call("decision", "list")["count"] == 0
    writer = HttpClient(hub.port, secret, {"Ctxhub-Agent": "writer"})
    body = {"key": "a", "value": 1}
    assert writer.send("POST", "/api/v1/projects/apollo/decisions/", body).status == 201
    assert agent_names(apollo) >= {"visitor 1", "visitor 2", "visitor 3", "writer"}
    clean_up_after(WEEK, apollo)
    assert agent_names(apollo) == {"writer"}
    assert not Delivery.objects.in_project(apollo).exists()
