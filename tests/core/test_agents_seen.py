"""That an agent was here is noted beside what it came for, and never instead of it."""

import threading

import pytest
from django.db import DatabaseError

from ctxhub.core.accounts.services import agents
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent
from ctxhub.core.toolbox.dispatch import call
from tests.hub import McpClient, RestClient


def fail(*_: object) -> int:
    raise DatabaseError("gone")


def test_a_write_stands_though_its_agent_could_not_be_noted(
    ada_mcp: McpClient, ada_rest: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "register_agent", fail)
    assert ada_mcp.call("decision", "set", key="a", value=1)["result"] == "created"
    agents._touched.clear()
    assert ada_rest.post("decisions/", {"key": "b", "value": 1}).status == 201


@pytest.mark.django_db(transaction=True)
def test_reading_waits_for_nobody_who_writes(ada: Caller) -> None:
    """On PostgreSQL; SQLite has one writer, and notes its agents in the queue."""
    from django.db import connection

    if connection.vendor == "sqlite":
        call(ada, "hub", {"action": "stats"})
    read = threading.Thread(target=call, args=(ada, "hub", {"action": "stats"}))
    with write_transaction(ada.project_id):
        read.start()
        read.join(timeout=5)
        assert not read.is_alive()
    call(ada, "hub", {"action": "stats"})
    assert Agent.objects.in_project(ada.project).filter(folded="ada").exists()
