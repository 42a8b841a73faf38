"""Registering the agent of a call never fails or blocks the call itself."""

import threading
from typing import Any

import pytest
from django.db import DatabaseError

from ctxhub.core.accounts import agents
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent
from ctxhub.toolbox.dispatch import call
from tests.hub import McpClient, RestClient
from tests.timing import PATIENCE_SECONDS


def fail(*_: object) -> int:
    raise DatabaseError("gone")


def test_a_write_succeeds_if_its_agent_cannot_be_registered(
    ada_mcp: McpClient, ada_rest: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "register_agent", fail)
    assert ada_mcp.call("decision", "set", key="a", value=1)["result"] == "created"
    agents._touched.clear()
    assert ada_rest.post("decisions/", {"key": "b", "value": 1}).status == 201


@pytest.mark.django_db(transaction=True)
def test_a_read_does_not_wait_for_a_writer(ada: Caller) -> None:
    """On PostgreSQL. SQLite has one writer, and registers agents in the queue of writes."""
    from django.db import connection

    if connection.vendor == "sqlite":
        call(ada, "hub", {"action": "stats"})
    answers: list[Any] = []
    reader = threading.Thread(target=lambda: answers.append(call(ada, "hub", {"action": "stats"})))
    with write_transaction(ada.project_id):
        reader.start()
        reader.join(PATIENCE_SECONDS)
        assert answers
    agents.LATER.flush()
    assert Agent.objects.in_project(ada.project).filter(folded="ada").exists()
