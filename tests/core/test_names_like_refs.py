"""Names that read as refs: refused for new objects on every face, found where they are stored."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from memory.decisions.services import set_decision
from memory.models import Context, Decision
from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("decision:x", "x"),
        ("Decision: x", "x"),
        ("memory:17", "memory/17"),
        ("file:src/a.py", "file/src/a.py"),
        ("session:ttl", "session/ttl"),
    ],
)
def test_a_new_key_that_reads_as_a_ref_is_refused_over_rest(
    ada_rest: RestClient, key: str, meant: str
) -> None:
    path = f"decisions/{key.replace(':', '%3A').replace(' ', '%20').replace('/', '%2F')}/"
    reply = ada_rest.put(path, {"value": "v"})
    assert (reply.status, reply.body["did_you_mean"]) == (400, meant)
    assert ada_rest.post("decisions/", {"key": key, "value": "v"}).status == 400
    assert not Decision.unscoped.exists()


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
    [
        ("decision", {"action": "set", "key": "memory:x", "value": "v"}, "memory/x"),
        ("decision", {"action": "quick_set", "key": "lease:ttl", "value": "v"}, "lease/ttl"),
        ("decision", {"action": "template_set", "name": "template:incident"}, "incident"),
        ("memory", {"action": "context_create", "name": "memory:shop"}, "memory/shop"),
        (
            "memory",
            {"action": "add", "title": "t", "content": "c", "context": "decision:shop"},
            "decision/shop",
        ),
        ("scratchpad", {"action": "create_workflow", "name": "workflow:release"}, "release"),
        ("session", {"action": "save", "summary": "s", "session": "message:a"}, "message/a"),
    ],
    ids=str,
)
def test_new_names_that_read_as_refs_are_refused_over_mcp(
    ada_mcp: McpClient, tool: str, arguments: dict[str, Any], meant: str
) -> None:
    error = ada_mcp.call(tool, **arguments)
    assert (error["error"], error["did_you_mean"]) == ("invalid", meant)


def test_one_of_a_batch_is_refused_by_itself(ada_mcp: McpClient) -> None:
    items = [{"key": "memory:x", "value": 1}, {"key": "b", "value": 2}]
    answer = ada_mcp.call("decision", "set_batch", items=items, atomic=False)
    assert [result.get("error") for result in answer["results"]] == ["invalid", None]


def test_a_pad_may_have_a_title_but_no_ref_for_a_name(ada_mcp: McpClient) -> None:
    workflow = ada_mcp.call("scratchpad", "create_workflow", name="Session: first ideas")["workflow_id"]
    for name, is_taken in (("Decision: use Redis", True), ("scratchpad:3", False), ("a:b", True)):
        answer = ada_mcp.call("scratchpad", "create", workflow_id=workflow, name=name)
        assert ("error" not in answer) == is_taken, name


@pytest.mark.parametrize("key", ["a:b/c:d", "decisions:x", "x/decision:y", "tag:api", "url:"])
def test_other_keys_with_colons_are_taken(ada_mcp: McpClient, key: str) -> None:
    assert ada_mcp.call("decision", "set", key=key, value="v")["result"] == "created"
    assert ada_mcp.call("decision", "get", key=key)["found"]


def test_over_mcp_the_ref_of_a_decision_is_its_key(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("decision", "set", key="decision:x", value="v")["key"] == "x"


@pytest.fixture
def stored(ada: Caller) -> Decision:
    """A key from before it was refused."""
    set_decision(caller=ada, key="x", value="v")
    Decision.unscoped.update(key="decision:x")
    return Decision.unscoped.get()


def test_a_stored_key_like_a_ref_is_found_and_changed(
    stored: Decision, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    assert ada_mcp.call("get", refs=["decision:decision:x"])["items"][0]["value"] == "v"
    assert ada_mcp.call("decision", "get", key="decision:decision:x")["decision"]["key"] == "decision:x"
    assert ada_mcp.call("decision", "set", key="decision:decision:x", value="w")["result"] == "updated"
    assert ada_rest.put("decisions/decision%3Ax/", {"value": "z"}).status == 200
    assert ada_rest.get("decisions/decision%3Ax/").body["value"] == "z"


def test_a_stored_context_like_a_ref_is_found_and_keeps_its_name(ada_mcp: McpClient) -> None:
    row_id = ada_mcp.call("memory", "context_create", name="shop")["id"]
    Context.unscoped.update(name="memory:shop", folded="memory:shop")
    assert "error" not in ada_mcp.call(
        "memory", "context_update", context=f"context:{row_id}", description="d"
    )
    assert ada_mcp.call("get", refs=[f"context:{row_id}"])["items"][0]["name"] == "memory:shop"
    renamed = ada_mcp.call("memory", "context_update", context=f"context:{row_id}", name="decision:y")
    assert renamed["did_you_mean"] == "decision/y"
