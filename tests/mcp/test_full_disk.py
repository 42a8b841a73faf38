"""A SQLite file that cannot grow, as on a full disk: both transports say so, and reads go on."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.backends.signals import connection_created

from ctxhub.core.kit import failures
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import UNWRITABLE
from memory.decisions.services import set_decision
from tests.databases import disconnect_db_threads
from tests.hub import LiveHub, McpClient
from tests.stdio import stdio_hub

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("sqlite" not in connection.vendor, reason="SQLite alone can be given a size."),
]

LONG = "word " * 200_000
FULL = "PRAGMA max_page_count = 1"  # As many as the file has.
IN_PROCESS = [
    "from django.db.backends.signals import connection_created",
    f"full = lambda connection, **_: connection.connection.execute({FULL!r})",
    "connection_created.connect(full)",
]


@pytest.fixture
def no_free_pages(ada: Caller) -> None:
    """The file has no page left of what earlier tests wrote."""
    set_decision(caller=ada, key="kept", value="x")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")


def _make_full(connection: Any, **_: Any) -> None:
    connection.connection.execute(FULL)


@pytest.fixture
def full(hub: LiveHub, no_free_pages: None) -> Iterator[None]:
    """The new connections of the hub's threads cannot make the file longer."""
    disconnect_db_threads()
    connection_created.connect(_make_full)
    yield
    connection_created.disconnect(_make_full)
    disconnect_db_threads()
    failures._unwritable_at.clear()


def says_so(error: Any) -> bool:
    return (error["error"], error["message"], error["retry_after"]) == ("internal", UNWRITABLE, 30)


def test_http_says_so_and_the_hub_is_not_ready(full: None, hub: LiveHub, ada_mcp: McpClient) -> None:
    call = {"name": "memory", "arguments": {"action": "add", "title": "t", "content": LONG}}
    reply = ada_mcp.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert (reply.status, reply.headers["retry-after"]) == (503, "30")
    assert says_so(reply.body["error"]["data"])
    assert hub.http().send("GET", "/readyz").status == 503
    assert "error" not in ada_mcp.call("decision", "get", key="kept")


def test_stdio_says_so(no_free_pages: None) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada", code=IN_PROCESS) as client:
        client.start()
        assert says_so(client.call("memory", "add", title="t", content=LONG))
        assert "error" not in client.call("decision", "get", key="kept")
