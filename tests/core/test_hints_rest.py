"""Over REST a hint names an address or a field, never a tool and its action; call/ speaks of tools."""

import re
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.rest.addresses import address_of
from ctxhub.toolbox.actions import all_tools
from tests.addresses import operations
from tests.hub import RestClient

pytestmark = pytest.mark.one_engine

# "memory search", "file_release", "with action".
ACTIONS = "|".join(
    rf"\b{tool.name}[ _](?:{'|'.join(action for action in tool.actions if action)})\b"
    for tool in all_tools().values()
    if not tool.is_single
)
TOOLS = re.compile(rf"{ACTIONS}|with action|tools/list")
# Words that are no operation: "a message read", the name of a field.
PLAIN = re.compile(r"message_hours|snapshot:|file changes")
UNKNOWN: dict[str, Any] = {"key": "no/such", "name": "none", "context": "none", "revision": 9}


def texts_of(body: Any) -> str:
    return f"{body.get('message', '')} {body.get('hint', '')}" if isinstance(body, dict) else ""


def assert_speaks_rest(body: Any) -> None:
    text = PLAIN.sub("", texts_of(body))
    assert not (found := TOOLS.search(text)), (found, text)


def test_no_error_names_a_tool(ada_rest: RestClient, subtests: Subtests) -> None:
    """Each operation of something that is not there, with its example, nothing, and a wrong body."""
    seen = 0
    for one in operations("GET", "POST", "PUT", "PATCH", "DELETE"):
        if one.address.startswith("call/") or one.address == "events/":
            continue
        names = {**dict.fromkeys(re.findall(r":(\w+_id)>", one.address), 999999), **UNKNOWN}
        example = one.body.example if one.body else None
        strange = dict.fromkeys(one.body.arguments.names if one.body else (), "999999")
        for body in [example, {}, strange] if one.body else [None]:
            with subtests.test(f"{one} {body}"):
                reply = ada_rest.send(one.method, ada_rest._url(one.path(names)), body)
                assert reply.status < 500
                seen += reply.status >= 400
                assert_speaks_rest(reply.body)
    assert seen >= 120


def test_no_conflict_names_a_tool(ada_rest: RestClient, ben_rest: RestClient) -> None:
    ada_rest.post("leases/", {"paths": ["src/**"]})
    workflow = ada_rest.post("workflows/", {"name": "w"}).body["id"]
    pad = ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "p"}).body["id"]
    ada_rest.patch(f"workflows/{workflow}/", {"active": False})
    ada_rest.post("contexts/", {"name": "shop"})
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    request = ada_rest.post("messages/", {"text": "So.", "type": "request", "to": ["ben"]}).body["id"]
    note = ada_rest.post("messages/", {"text": "So.", "to": ["ben"]}).body["id"]
    ben_rest.post(f"messages/{request}/claim/")
    replies = [
        ben_rest.post("leases/", {"paths": ["src/a.py"]}),
        ada_rest.post(f"scratchpads/{pad}/append/", {"content": "x"}),
        ada_rest.post("contexts/", {"name": "Shop"}),
        ada_rest.patch("decisions/k/", {"value": 2}, {"If-Match": '"9"'}),
        ada_rest.post(f"messages/{request}/claim/"),
        ben_rest.post(f"messages/{note}/claim/"),
        ben_rest.post(f"messages/{note}/ack/"),
        ada_rest.post("messages/", {"text": "x", "to": ["@zoe"]}),
        ada_rest.post("sessions/", {}),
        ada_rest.post("memories/", {"title": "t", "content": "c", "context": 999}),
    ]
    for reply in replies:
        assert_speaks_rest(reply.body)
    assert sum("hint" in reply.body for reply in replies) >= 7
    assert "PATCH contexts/{context}/" in replies[2].body["hint"]


def test_call_speaks_of_tools(ada_rest: RestClient) -> None:
    reply = ada_rest.post("call/memory/get/", {"id": 999_999})
    assert "memory search" in reply.body["hint"]
    assert "GET memories/search/" in ada_rest.get("memories/999999/").body["hint"]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("decision list", "GET decisions/"),
        ("memory search", "GET memories/search/"),
        ("file release", "POST leases/release/"),
        ("message inbox", "GET messages/"),
        ("memory context_update", "PATCH contexts/{context}/"),
        ("decision deprecate", "POST call/decision/deprecate/"),
        ("search", "GET search/"),
        ("delete", "POST call/delete/"),
    ],
)
def test_operations_have_addresses(name: str, address: str) -> None:
    assert address_of(name) == address
