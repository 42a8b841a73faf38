"""Arguments that take an id also take a ref; a ref of another kind is refused."""

from typing import Any

import pytest

from ctxhub.toolbox.actions import all_tools
from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine


@pytest.fixture
def ids(ada_mcp: McpClient, ben_mcp: McpClient) -> dict[str, int]:
    ben_mcp.call("message", "inbox")
    workflow = ada_mcp.call("scratchpad", "create_workflow")["workflow_id"]
    pad = ada_mcp.call("scratchpad", "create", workflow_id=workflow, name="notes", content="A leak.")
    return {
        "workflow": workflow,
        "scratchpad": pad["scratchpad_id"],
        "memory": ada_mcp.call("memory", "add", title="Pools", content="They leak.", context="shop")["id"],
        "constraint": ada_mcp.call("constraint", "add", category="security", text="Sign tokens.")["id"],
        "message": ben_mcp.call("message", "send", text="Who?", to=["ada"], ack=True, type="request")["id"],
        "lease": ada_mcp.call("file", "lease", paths=["lib/**"])["lease_id"],
        "snapshot": ada_mcp.call("snapshot", "save", content="The pool leaks.")["id"],
        "session": ada_mcp.call("session", "save", session="evening", summary="Half done.")["session"],
    }


SNAPSHOT_ACTIONS = ("get", "why", "chain", "impact")
# Tool, action, the argument that takes an id, the kind of the id, and the other arguments.
CALLS: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("constraint", "deactivate", "id", "constraint", {}),
    ("constraint", "activate", "id", "constraint", {}),
    ("memory", "get", "id", "memory", {}),
    ("memory", "update", "id", "memory", {"title": "Pools"}),
    ("memory", "similar", "id", "memory", {}),
    ("memory", "relationships", "id", "memory", {}),
    ("memory", "revisions", "id", "memory", {}),
    ("memory", "restore", "id", "memory", {"revision": 1}),
    ("message", "send", "reply_to", "message", {"text": "I."}),
    ("message", "thread", "id", "message", {}),
    ("message", "status", "id", "message", {}),
    ("message", "claim", "id", "message", {}),
    ("message", "done", "id", "message", {}),
    ("file", "renew", "lease_id", "lease", {}),
    ("file", "release", "lease_id", "lease", {}),
    ("scratchpad", "create", "workflow_id", "workflow", {"name": "more"}),
    ("scratchpad", "list", "workflow_id", "workflow", {}),
    ("scratchpad", "close_workflow", "workflow_id", "workflow", {}),
    ("scratchpad", "get", "scratchpad_id", "scratchpad", {}),
    ("scratchpad", "append", "scratchpad_id", "scratchpad", {"content": "More."}),
    ("scratchpad", "update", "scratchpad_id", "scratchpad", {"content": "Other."}),
    ("scratchpad", "revisions", "scratchpad_id", "scratchpad", {}),
    ("scratchpad", "restore", "scratchpad_id", "scratchpad", {"revision": 1}),
    ("scratchpad", "search", "scratchpad_id", "scratchpad", {"query": "leak"}),
    ("scratchpad", "search", "workflow_id", "workflow", {"query": "leak"}),
]
CALLS += [("snapshot", action, "id", "snapshot", {}) for action in SNAPSHOT_ACTIONS]
OF_ANYTHING = {
    ("memory", "relationships"),
    *(("snapshot", action) for action in ("why", "chain", "impact")),
}
LISTS: list[tuple[str, str, str, str]] = [
    ("message", "read", "ids", "message"),
    ("message", "ack", "ids", "message"),
    ("scratchpad", "get", "scratchpad_ids", "scratchpad"),
]
# What a client calls its workspace is a text, and no id of ours.
TEXTS = {("session", action, "workspace_id") for action in ("save", "restore", "list")}
for_each_call = pytest.mark.parametrize(
    ("tool", "action", "argument", "kind", "other_arguments"), CALLS, ids=lambda value: str(value)
)


def test_every_argument_that_takes_an_id_is_tested() -> None:
    arguments = {
        (action.tool, action.name, argument.name)
        for tool in all_tools().values()
        for action in tool.actions.values()
        for argument in action.arguments.all
        if argument.name in ("id", "ids", "reply_to") or argument.name.endswith(("_id", "_ids"))
    }
    assert arguments - TEXTS == {(tool, action, argument) for tool, action, argument, *_ in [*CALLS, *LISTS]}
    assert arguments >= TEXTS


@for_each_call
@pytest.mark.parametrize("written", ["{id}", "{kind}:{id}", " {KIND}: {id} "])
def test_an_id_may_be_given_as_a_ref(
    ada_mcp: McpClient,
    ada_rest: RestClient,
    ids: dict[str, int],
    tool: str,
    action: str,
    argument: str,
    kind: str,
    other_arguments: dict[str, Any],
    written: str,
) -> None:
    value = written.format(id=ids[kind], kind=kind, KIND=kind.title())
    if written == "{id}":
        reply = ada_rest.post(f"call/{tool}/{action}/", {argument: value, **other_arguments})
        assert reply.status == 200, reply
    else:
        answer = ada_mcp.call(tool, action, **{argument: value}, **other_arguments)
        assert "error" not in answer, answer


@for_each_call
def test_a_ref_of_another_kind_is_refused_in_a_sentence(
    ada_mcp: McpClient,
    tool: str,
    action: str,
    argument: str,
    kind: str,
    other_arguments: dict[str, Any],
) -> None:
    if (tool, action) in OF_ANYTHING:
        pytest.skip("it takes the ref of anything")
    answer = ada_mcp.call(tool, action, **{argument: "decision:17"}, **other_arguments)
    assert answer["error"] == "invalid"
    assert f"{argument}: 'decision:17' is not the id of a {kind}: write 17 or {kind}:17" in answer["message"]


@pytest.mark.parametrize(("tool", "action", "argument", "kind"), LISTS)
def test_several_ids_may_be_refs(
    ada_mcp: McpClient, ids: dict[str, int], tool: str, action: str, argument: str, kind: str
) -> None:
    row_id = ids[kind]
    refs = [[f"{kind}:{row_id}"], f"{kind}:{row_id}", f'["{kind}:{row_id}"]', f"{row_id}, {kind}:{row_id}"]
    for value in [*refs, row_id, str(row_id), [row_id, f"{kind}:{row_id}"]]:
        answer = ada_mcp.call(tool, action, **{argument: value})
        assert "error" not in answer, (value, answer)
    answer = ada_mcp.call(tool, action, **{argument: ["decision:17"]})
    assert f"{argument}[0]: 'decision:17' is not the id of a {kind}" in answer["message"]


# -- Contexts: by name, by id, by either in a ref --------------------------------------------------


def test_a_context_may_be_named_by_its_ref(ada_mcp: McpClient, ids: dict[str, int]) -> None:
    row_id = ada_mcp.rows("memory", "contexts")[0]["id"]
    for context in ("shop", "context:shop", "Context: SHOP", row_id, str(row_id), f"context:{row_id}"):
        assert ada_mcp.call("memory", "context_get", context=context)["name"] == "shop"
        assert ada_mcp.call("memory", "list", context=context)["count"] == 1
        assert ada_mcp.call("memory", "search", query="pools", context=context)["count"] == 1
        assert ada_mcp.call("search", query="pools", context=str(context))["count"] == 1


def test_a_memory_may_name_its_context_by_ref(ada_mcp: McpClient, ids: dict[str, int]) -> None:
    for context in ("context:shop", "context:new"):
        memory = ada_mcp.call("memory", "add", title=context, content="They leak.", context=context)
        assert memory.get("context_created", False) is (context == "context:new")
    assert {row["name"] for row in ada_mcp.rows("memory", "contexts")} == {"shop", "new"}


def test_a_ref_of_another_kind_is_not_a_context(ada_mcp: McpClient, ids: dict[str, int]) -> None:
    wrong = f"memory:{ids['memory']}"
    for action, fields in (
        ("context_get", {}),
        ("list", {}),
        ("add", {"title": "x", "content": "y"}),
    ):
        answer = ada_mcp.call("memory", action, context=wrong, **fields)
        assert (answer["error"], answer["message"]) == (
            "invalid",
            f"context: {wrong!r} is no context: write its name, its id or context:17.",
        )
    assert ada_mcp.call("search", query="pools", context=wrong)["error"] == "invalid"
    # A colon alone does not make a ref.
    ada_mcp.call("memory", "add", title="x", content="y", context="team:alpha")
    assert ada_mcp.call("memory", "list", context="team:alpha")["count"] == 1


# -- Snapshots and sessions ------------------------------------------------------------------------


def test_a_snapshot_may_name_its_causes_by_refs(ada_mcp: McpClient, ids: dict[str, int]) -> None:
    row_id = ids["snapshot"]
    for cause in (row_id, str(row_id), f"snapshot:{row_id}", f" Snapshot: {row_id} "):
        saved = ada_mcp.call("snapshot", "save", content="It is sealed.", caused_by=cause, dependencies=[])
        assert saved["caused_by"] == row_id
        saved = ada_mcp.call("snapshot", "save", content="It is sealed.", dependencies=[cause])
        assert saved["dependencies"] == [row_id]
    answer = ada_mcp.call("snapshot", "save", content="x", dependencies=["decision:17"])
    assert "'decision:17' is not the id of a snapshot" in answer["message"]


SESSION_CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("save", "session", {}),
    ("save", "parent", {"session": "night", "summary": "Done."}),
    ("restore", "session", {}),
    ("list", "parent", {}),
    ("get", "session", {}),
    ("lineage", "session", {}),
    ("track", "session", {"path": "a.py", "access": "viewed"}),
    ("accesses", "session", {}),
    ("resources", "session", {}),
    ("prioritize", "session", {"budget_tokens": 100}),
]


@pytest.mark.parametrize(("action", "argument", "other_arguments"), SESSION_CALLS)
@pytest.mark.parametrize("written", ["{id}", "session:{id}", "Session: {id}", "evening", "session:evening"])
def test_a_session_may_be_named_by_id_ref_or_name(
    ada_mcp: McpClient,
    ids: dict[str, int],
    action: str,
    argument: str,
    other_arguments: dict[str, Any],
    written: str,
) -> None:
    named = written.format(id=ids["session"])
    answer = ada_mcp.call("session", action, **{argument: named}, **other_arguments)
    assert "error" not in answer, answer


# -- REST ------------------------------------------------------------------------------------------


def test_refs_stand_for_ids_in_bodies(ada_rest: RestClient, ids: dict[str, int]) -> None:
    message, lease, workflow = (f"{kind}:{ids[kind]}" for kind in ("message", "lease", "workflow"))
    assert ada_rest.post("messages/", {"text": "I.", "reply_to": message}).body["thread"] == ids["message"]
    assert ada_rest.post("messages/read/", {"ids": [message, str(ids["message"])]}).body == {"marked": 1}
    assert ada_rest.post("leases/release/", {"lease_id": lease}).body == {"released": 1}
    assert ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "x"}).status == 201
    assert ada_rest.post("memories/", {"title": "x", "content": "y", "context": "context:shop"}).status == 201
    for path, body in (
        ("messages/", {"text": "x", "reply_to": lease}),
        ("messages/read/", {"ids": [lease]}),
        ("leases/release/", {"lease_id": message}),
        ("scratchpads/", {"workflow_id": message, "name": "x"}),
    ):
        reply = ada_rest.post(path, body)
        assert (reply.status, "is not the id of a" in reply.body["message"]) == (400, True), reply


def test_refs_stand_for_ids_in_queries(ada_rest: RestClient, ids: dict[str, int]) -> None:
    workflow, pad, memory = (f"{kind}:{ids[kind]}" for kind in ("workflow", "scratchpad", "memory"))
    assert ada_rest.get("scratchpads/", workflow_id=workflow).body["count"] == 1
    assert ada_rest.get("scratchpads/", workflow_id=ids["workflow"]).body["count"] == 1
    assert ada_rest.get("scratchpads/search/", query="leak", scratchpad_id=pad).body["count"] == 1
    assert ada_rest.get("memories/similar/", id=memory).status == 200
    assert ada_rest.get("memories/", context="context:shop").body["count"] == 1
    for path, query in (
        ("scratchpads/", {"workflow_id": pad}),
        ("scratchpads/search/", {"query": "leak", "scratchpad_id": memory}),
        ("memories/similar/", {"id": pad}),
    ):
        reply = ada_rest.get(path, **query)
        assert (reply.status, "is not the id of a" in reply.body["message"]) == (400, True), reply


def test_a_context_is_addressed_by_its_ref(ada_rest: RestClient, ids: dict[str, int]) -> None:
    assert ada_rest.get("contexts/context:shop/").body["name"] == "shop"


def test_a_key_may_be_the_ref_of_its_decision(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ref = "decision:api/auth"
    assert ada_mcp.call("decision", "set", key=ref, value="JWT")["key"] == "api/auth"
    assert ada_mcp.call("decision", "get", key=ref)["decision"]["value"] == "JWT"
    assert ada_mcp.call("decision", "set_batch", items=[{"key": ref, "value": "PASETO"}])["done"] == 1
    assert ada_mcp.call("decision", "versions", key=ref)["count"] == 2
    assert ada_rest.post("call/decision/get/", {"key": ref}).body["found"]
    ada_mcp.call("decision", "set", key="api/session", value="cookie")
    ended = ada_mcp.call("decision", "deprecate", key=ref, superseded_by="decision:api/session")
    assert "error" not in ended
    assert ada_mcp.call("hub", "stats")["decisions"] == [1, 2]


def test_refs_may_be_a_text_with_commas_and_a_number_among_them_fails_nothing(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="a, b", value=1)
    ada_mcp.call("decision", "set", key="c", value=2)
    for refs in ("decision:a, b,decision:c", ["decision:a, b", "decision:c"]):
        assert len(ada_mcp.call("get", refs=refs)["items"]) == 2
    answer = ada_mcp.call("get", refs=["decision:c", 7])
    assert (len(answer["items"]), answer["missing"]) == (1, ["7"])
