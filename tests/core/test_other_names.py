"""Singular and plural of an argument, and `id` for `lease_id`: calls may use both, schemas have one."""

from collections.abc import Iterator
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import call
from tests.hub import WHOLE, LiveHub, McpClient, RestClient

ACTIONS = {action.call: action for tool in all_tools().values() for action in tool.actions.values()}
MEANT = [
    ("check", "path", "paths"),
    ("file.lease", "path", "paths"),
    ("file.record", "paths", "path"),
    ("memory.grep", "paths", "path"),
    ("session.track", "paths", "path"),
    ("get", "ref", "refs"),
    ("hub.confirm", "ref", "refs"),
    ("message.done", "result_ref", "result_refs"),
    ("message.read", "id", "ids"),
    ("message.read", "message_id", "ids"),
    ("message.thread", "ids", "id"),
    ("message.thread", "message_id", "id"),
    ("memory.get", "memory_id", "id"),
    ("constraint.deactivate", "constraint_id", "id"),
    ("snapshot.get", "snapshot_id", "id"),
    ("decision.set", "tag", "tags"),
    ("decision.set", "scope", "scopes"),
    ("decision.set", "alternative", "alternatives"),
    ("decision.list", "scopes", "scope"),
    ("decision.list", "exclude_tag", "exclude_tags"),
    ("decision.get", "includes", "include"),
    ("decision.set_batch", "item", "items"),
    ("search", "kind", "kinds"),
    ("search", "tag", "tags"),
    ("hub.activity", "verb", "verbs"),
    ("constraint.add", "categories", "category"),
    ("scratchpad.get", "id", "scratchpad_id"),
    ("scratchpad.get", "ids", "scratchpad_ids"),
    ("scratchpad.append", "id", "scratchpad_id"),
    ("scratchpad.list", "id", "workflow_id"),
    ("scratchpad.close_workflow", "id", "workflow_id"),
    ("file.renew", "id", "lease_id"),
    ("file.release", "id", "lease_id"),
]


@pytest.mark.parametrize(("operation", "said", "name"), MEANT)
def test_the_other_number_is_understood(operation: str, said: str, name: str) -> None:
    assert ACTIONS[operation].arguments.others[said].name == name


def test_names_that_could_mean_two_arguments_mean_none() -> None:
    assert "id" not in ACTIONS["scratchpad.search"].arguments.others
    assert "id" not in ACTIONS["message.send"].arguments.others  # Not `reply_to`.
    assert "ids" not in ACTIONS["snapshot.save"].arguments.others  # Not `dependencies`.


@pytest.mark.parametrize("action", ACTIONS.values(), ids=list(ACTIONS))
def test_other_names_hide_nothing_that_is_declared(action: Action) -> None:
    others = action.arguments.others
    assert not others.keys() & {
        *action.known,
        "action",
        "agent",
        "agents_",
        "format",
        "session",
    }
    assert not action.takes_budget or "max_tokens" not in others
    # What a dry run is told by, and with it the scope that a call needs.
    assert not any(argument.schema.get("type") == "boolean" for argument in others.values())


def test_schemas_and_help_have_each_argument_once(ada_mcp: McpClient) -> None:
    declared = {tool["name"]: tool["inputSchema"]["properties"] for tool in ada_mcp.tools()}
    assert "path" not in declared["check"]
    assert "ref" not in declared["get"]
    assert "tag" not in declared["search"]
    assert "`path`" not in str(ada_mcp.call("check", "help"))


# -- Over MCP --------------------------------------------------------------------------------------


def test_singulars_and_plurals_over_mcp(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    lease = ben_mcp.call("file", "lease", path="src/a.py")
    assert ada_mcp.call("check", path="src/a.py")["clear"] is False
    assert ada_mcp.call("file", "record", paths=["src/b.py"], change="modified")["id"]
    assert ben_mcp.call("file", "renew", id=lease["lease_id"])["lease_id"] == lease["lease_id"]
    assert ben_mcp.call("file", "release", id=f"lease:{lease['lease_id']}")["released"] == 1
    ada_mcp.call("decision", "set", key="a", value="x", tag="api", scope="web, app")
    [row] = ada_mcp.rows("decision", "list", tag="api", scopes=["web"])
    assert sorted(row["scopes"]) == ["app", "web"]
    assert ada_mcp.call("get", ref="decision:a")["items"][0]["ref"] == "decision:a"
    assert ada_mcp.call("search", query="x", kind="decision")["count"] == 1
    message = ben_mcp.call("message", "send", text="x", to=["ada"])["id"]
    assert ada_mcp.call("message", "read", message_id=message) == {"marked": 1}
    workflow = ada_mcp.call("scratchpad", "create_workflow", name="w")["workflow_id"]
    pad = ada_mcp.call("scratchpad", "create", id=workflow, name="p")["scratchpad_id"]
    assert ada_mcp.call("scratchpad", id=pad)["scratchpad"]["name"] == "p"
    assert "error" not in ada_mcp.call("scratchpad", "append", id=pad, content="x")


def test_batch_items_too(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    items = [{"paths": ["src/a.py"], "change": "modified"}]
    assert ada_mcp.call("file", "record_batch", items=items)["done"] == 1
    assert ada_rest.post("changes/batch/", {"items": items}).body["done"] == 1
    assert ada_mcp.call("file", "record_batch", item={"path": "src/a.py", "change": "deleted"})["done"] == 1
    two = [{"paths": ["a", "b"], "change": "modified"}]
    error = ada_mcp.call("file", "record_batch", items=two)
    assert (error["error"], error["message"], error["index"]) == (
        "invalid",
        "path takes one value, not 2.",
        0,
    )
    assert ada_rest.post("changes/batch/", {"items": two}).body["message"] == error["message"]


@pytest.mark.parametrize(
    ("arguments", "same"),
    [
        ({"path": "a.py", "paths": ["a.py"]}, True),
        ({"path": "['a.py']", "paths": "a.py"}, True),
        ({"path": ["a.py", "b.py"], "paths": ["a.py", "b.py"]}, True),
        ({"path": "a.py", "paths": ["b.py"]}, False),
        ({"path": "a.py", "paths": ["a.py", "b.py"]}, False),
    ],
)
def test_both_are_one_or_refused(ada_mcp: McpClient, arguments: dict[str, Any], same: bool) -> None:
    answer = ada_mcp.call("check", **arguments)
    assert ("error" not in answer) is same
    if not same:
        assert answer["message"] == "path and paths are the same argument, with two values."
        assert answer["hint"] == "Say paths alone."


def test_several_values_where_one_is_taken_are_refused(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    for answer in (
        ada_mcp.call("decision", "list", scopes=["a", "b"]),
        ada_mcp.call("decision", "list", scopes='["a", "b"]'),
        ada_rest.post("call/decision/list/", {"scopes": ["a", "b"]}).body,
    ):
        assert (answer["error"], answer["message"]) == ("invalid", "scope takes one value, not 2.")
    assert ada_rest.get("decisions/", scopes=["a", "b"]).status == 400


def test_errors_name_the_declared_argument(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    answer = ada_mcp.call("memory", "get", memory_id="x")
    assert answer["message"].startswith("memory.get: id:")
    assert "ids" not in str(answer.get("allowed", ""))
    assert ada_mcp.call("message", "read", id=[])["missing"] == ["ids"]
    body = ada_rest.post("memories/", {"title": "x", "content": "x", "tag": [5]}).body
    assert body["message"].startswith("tags[0]")


def test_the_default_action_is_found_by_other_names(ada_mcp: McpClient) -> None:
    memory = ada_mcp.call("memory", "add", title="x", content="y")["id"]
    assert ada_mcp.call("memory", memory_id=memory)["title"] == "x"
    # `path` is an argument of `changes`, which only reads: it takes no lease.
    assert (
        "rows" in ada_mcp.call("file", path="src/a.py") or ada_mcp.call("file", path="src/a.py")["count"] == 0
    )
    assert ada_mcp.call("file", "leases")["count"] == 0


def test_a_dry_run_is_told_by_its_declared_name_alone(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    with pytest.raises(Exception, match="no argument 'dry_runs'"):
        call(reader, "snapshot", {"action": "prune", "dry_runs": False})


# -- Over REST -------------------------------------------------------------------------------------


def test_singulars_and_plurals_over_rest(ada_rest: RestClient, ben_rest: RestClient) -> None:
    assert ben_rest.post("leases/", {"path": ["src/a.py"]}).status == 201
    assert ada_rest.get("check/", path="src/a.py").body["clear"] is False
    assert ada_rest.get("check/", path=["x.py", "src/a.py"]).body["clear"] is False
    made = ada_rest.post(
        "decisions/", {"key": "a", "value": "x", "tag": ["api"], "scope": ["web"]}, WHOLE
    ).body
    assert (made["tags"], made["scopes"]) == (["api"], ["web"])
    assert ada_rest.get("decisions/", tag="api", scopes="web").body["count"] == 1
    assert ada_rest.get("decisions/", tag="db").body["count"] == 0
    assert ada_rest.patch("decisions/a/", {"tag": None}).body["tags"] == []
    assert ada_rest.get("search/", query="x", kind="decision").body["count"] == 1
    twice = ada_rest.get("decisions/", tag="api", tags="db")
    assert (twice.status, twice.body["message"]) == (
        400,
        "tag and tags are the same argument, with two values.",
    )
    assert ada_rest.get("decisions/", tag="api", tags="api").status == 200


def agents_of(rest: RestClient, **query: Any) -> Iterator[str]:
    yield from (item["agent"] for item in rest.get("activity/", **query).body["items"])


def test_agent_is_who_speaks_and_agents_whom_it_is_about(
    hub: LiveHub, apollo: Project, ada_mcp: McpClient, ben_mcp: McpClient
) -> None:
    for client in (ada_mcp, ben_mcp):
        client.call("decision", "set", key=str(id(client)), value="x")
    rest = hub.rest(create_token(project=apollo).secret)
    assert set(agents_of(rest, agents="ada")) == {"ada"}
    assert set(agents_of(rest, agent="ada")) >= {"ada", "ben"}
