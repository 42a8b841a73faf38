"""Agents that only read under a name of their own are not kept for ever; whoever left a trace is."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import ManyToOneRel

from ctxhub.core.accounts.services import agents, visitors
from ctxhub.core.accounts.services.access_tokens import create_token
from ctxhub.core.accounts.services.visitors import LOOKED_AT_ONCE
from ctxhub.core.events.services.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from ctxhub.core.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services.decisions import set_decision
from messaging.models import Delivery
from messaging.services.messages import send_message
from tests.hub import HttpClient, LiveHub
from tracking.services.leases import acquire_lease

WEEK = timedelta(days=7, minutes=1)


def known(project: Project) -> set[str]:
    return set(Agent.objects.in_project(project).values_list("name", flat=True))


def after(span: timedelta, project: Project) -> dict[str, int]:
    with time_machine.travel(clock.now() + span, tick=False):
        return cleanup(project.pk)


def visit(project: Project, name: str) -> Caller:
    caller = Caller(project=project, agent=name)
    call(caller, "hub", {"action": "stats"})
    return caller


def test_who_only_read_is_gone_after_a_week(apollo: Project) -> None:
    visit(apollo, "eve")
    assert after(timedelta(days=6), apollo).get("agents", 0) == 0
    assert known(apollo) == {"eve"}
    visitors._looked.clear()
    assert after(WEEK, apollo)["agents"] == 1
    assert known(apollo) == set()


def test_the_log_tells_how_many_went(apollo: Project) -> None:
    for name in ("eve", "fay"):
        visit(apollo, name)
    after(WEEK, apollo)
    [event] = Event.objects.in_project(apollo)
    assert (event.verb, event.ref, event.data) == (
        "cleaned",
        "hub:cleanup",
        {"agents": 2, "note": "2 agents"},
    )


def test_who_comes_again_stays(apollo: Project) -> None:
    visit(apollo, "eve")
    visitors._looked.clear()
    with time_machine.travel(clock.now() + timedelta(days=6), tick=False):
        agents._touched.clear()
        visit(apollo, "eve")
    assert after(WEEK, apollo).get("agents", 0) == 0
    assert known(apollo) == {"eve"}


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
def test_whoever_left_a_trace_stays(apollo: Project, ada: Caller, trace: str) -> None:
    TRACES[trace](visit(apollo, "eve"), ada)
    after(timedelta(days=400), apollo)
    assert "eve" in known(apollo)


def test_who_owns_what_no_event_tells_of_stays(apollo: Project, ada: Caller) -> None:
    """Importers write rows in the names of others."""
    eve = visit(apollo, "eve")
    add_constraint(caller=eve, category="security", text="x")
    Event.objects.in_project(apollo).delete()
    after(WEEK, apollo)
    assert known(apollo) == {"eve"}


def test_every_column_that_points_to_an_agent_is_looked_at() -> None:
    pointing = {
        (relation.related_model._meta.db_table, relation.field.column)
        for relation in Agent._meta.get_fields(include_hidden=True)
        if isinstance(relation, ManyToOneRel)
    }
    looked_at = {(table, column) for table, column, is_name in visitors._references() if not is_name}
    assert looked_at == pointing
    assert len(pointing) >= 15
    assert ("messaging_delivery", "folded", True) in visitors._references()


def test_another_projects_agents_are_left_alone(apollo: Project, hermes: Project) -> None:
    visit(apollo, "eve")
    visit(hermes, "eve")
    after(WEEK, apollo)
    assert (known(apollo), known(hermes)) == (set(), {"eve"})


def test_many_go_in_several_rounds(apollo: Project) -> None:
    long_ago = clock.now() - WEEK
    names = [f"visitor {n}" for n in range(LOOKED_AT_ONCE + 5)]
    Agent.unscoped.bulk_create(
        Agent(project=apollo, name=name, folded=name, last_seen_at=long_ago) for name in names
    )
    assert cleanup(apollo.pk)["agents"] == LOOKED_AT_ONCE
    assert after(timedelta(hours=1), apollo)["agents"] == 5
    assert known(apollo) == set()


def test_it_looks_once_an_hour(apollo: Project) -> None:
    visit(apollo, "eve")
    cleanup(apollo.pk)
    with time_machine.travel(clock.now() + timedelta(minutes=59), tick=False):
        Agent.objects.in_project(apollo).update(last_seen_at=clock.now() - WEEK)
        assert cleanup(apollo.pk).get("agents", 0) == 0
    assert after(timedelta(minutes=60), apollo)["agents"] == 1


def test_names_in_headers_are_gone_after_a_week(hub: LiveHub, apollo: Project) -> None:
    secret = create_token(project=apollo, scopes=["read", "write"]).secret
    for name in ("visitor 1", "visitor 2"):
        client = HttpClient(hub.port, secret, {"Ctxhub-Agent": name})
        assert client.send("GET", "/api/v1/projects/apollo/decisions/").status == 200
    mcp = hub.mcp(secret, **{"Ctxhub-Agent": "visitor 3"})
    assert mcp.call("decision", "list")["count"] == 0
    writer = HttpClient(hub.port, secret, {"Ctxhub-Agent": "writer"})
    body = {"key": "a", "value": 1}
    assert writer.send("POST", "/api/v1/projects/apollo/decisions/", body).status == 201
    assert known(apollo) >= {"visitor 1", "visitor 2", "visitor 3", "writer"}
    after(WEEK, apollo)
    assert known(apollo) == {"writer"}
    assert not Delivery.objects.in_project(apollo).exists()
