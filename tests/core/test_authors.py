"""Every list of what agents write is filtered by author with `by`, and REST names the author as `by`, too."""

from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import Project
from ctxhub.rest.answers import with_author
from ctxhub.toolbox.actions import all_tools
from tests.hub import WHOLE, LiveHub, McpClient, RestClient

Make = Callable[[McpClient, str], object]
Json = dict[str, Any]


def add_pad(client: McpClient, name: str) -> object:
    return client.call("scratchpad", "create", workflow_id=workflow(client), name=name, content="x")


def workflow(client: McpClient) -> int:
    """The one that all pads are in."""
    rows = client.call("scratchpad", "workflows", text="shared", format="objects")["items"]
    return int(
        rows[0]["id"] if rows else client.call("scratchpad", "create_workflow", name="shared")["workflow_id"]
    )


MAKE: dict[str, Make] = {
    "decision.list": lambda agent, name: agent.call("decision", "set", key=name, value=1),
    "constraint.list": lambda agent, name: agent.call("constraint", "add", category="style", text=name),
    "memory.list": lambda agent, name: agent.call("memory", "add", title=name, content="x"),
    "memory.contexts": lambda agent, name: agent.call("memory", "context_create", name=name),
    "scratchpad.workflows": lambda agent, name: agent.call("scratchpad", "create_workflow", name=name),
    "scratchpad.list": add_pad,
    "snapshot.list": lambda agent, name: agent.call("snapshot", "save", content=name),
    "message.inbox": lambda agent, name: agent.call("message", "send", text=name, to=["eve"]),
    "file.changes": lambda agent, name: agent.call("file", "record", path=name, change="created"),
    "file.leases": lambda agent, name: agent.call("file", "lease", paths=[name]),
    "session.list": lambda agent, name: agent.call("session", "save", summary=name),
    "session.accesses": lambda agent, name: agent.call("session", "track", path=name, access="viewed"),
    "hub.activity": lambda agent, name: agent.call("decision", "set", key=name, value=1),
    "search": lambda agent, name: agent.call("decision", "set", key=name, value="rotation"),
}
PATHS = {
    "decision.list": "decisions/",
    "constraint.list": "constraints/",
    "memory.list": "memories/",
    "memory.contexts": "contexts/",
    "scratchpad.workflows": "workflows/",
    "scratchpad.list": "scratchpads/",
    "snapshot.list": "snapshots/",
    "message.inbox": "messages/",
    "file.changes": "changes/",
    "file.leases": "leases/",
    "session.list": "sessions/",
    "session.accesses": "accesses/",
    "hub.activity": "activity/",
    "search": "search/",
}
# `by` groups there.
GROUPS = {"hub.trends"}


@pytest.fixture
def eve(hub: LiveHub, apollo: Project) -> tuple[McpClient, RestClient]:
    secret = create_token(project=apollo, agent="eve").secret
    return hub.mcp(secret), hub.rest(secret, project="apollo")


def test_every_list_of_authors_is_walked() -> None:
    lists = [a for tool in all_tools().values() for a in tool.actions.values() if Listing in a.answers]
    assert {a.call for a in lists if "by" in a.arguments.names} == {*MAKE} | GROUPS


@pytest.mark.every_engine
@pytest.mark.parametrize("name", MAKE)
def test_a_list_is_filtered_by_author(
    name: str, ada_mcp: McpClient, ben_mcp: McpClient, eve: tuple[McpClient, RestClient]
) -> None:
    mcp, rest = eve
    mcp.call("message", "inbox")
    also: Json = {"query": "rotation"} if name == "search" else {}
    if name == "scratchpad.list":
        also = {"workflow_id": workflow(ben_mcp)}
    MAKE[name](ada_mcp, "of-ada")
    MAKE[name](ben_mcp, "of-ben")
    tool, _, action = name.partition(".")
    for author, other in (("ada", "ben"), ("BEN", "ada")):
        answers = [
            mcp.call(tool, action or None, by=author, format="objects", **also),
            rest.get(PATHS[name], by=author, **also).body,
        ]
        for answer in answers:
            assert answer["items"], answer
            text = str(answer["items"])
            assert f"of-{other}" not in text
            named = {item[n] for item in answer["items"] for n in ("agent", "from", "by") if n in item}
            assert named <= {author.lower()}
    for answer in (
        mcp.call(tool, action or None, by="zzz", format="objects", **also),
        rest.get(PATHS[name], by="zzz", **also).body,
    ):
        assert (answer["items"], answer["hint"]) == ([], "There is no agent 'zzz'.")


def test_the_older_name_of_the_filter_is_understood(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    for client, key in ((ada_mcp, "a"), (ben_mcp, "b")):
        client.call("decision", "set", key=key, value=1)
    for query in ({"agents": ["ada"]}, {"agents": "ada", "by": "ada"}):
        rows = ben_mcp.call("hub", "activity", format="objects", **query)["items"]
        assert [row["ref"] for row in rows] == ["decision:a"]
    both = ben_mcp.call("hub", "activity", format="objects", agents=["ada"], by="ben")["items"]
    assert [row["ref"] for row in both] == ["decision:b", "decision:a"]


# -- REST items ------------------------------------------------------------------------------------

ITEMS = [
    "decisions/",
    "decisions/k/",
    "decisions/k/?include=history",
    "decisions/?key=k",
    "decisions/k/versions/",
    "constraints/",
    "constraints/1/",
    "contexts/general/",
    "memories/1/",
    "memories/1/revisions/",
    "memories/1/revisions/1/",
    "scratchpads/1/revisions/",
    "scratchpads/1/revisions/1/",
    "snapshots/",
    "snapshots/1/",
    "snapshots/load/",
    "snapshots/search/?query=so",
    "sessions/",
    "sessions/1/",
    "sessions/1/accesses/",
    "accesses/",
    "activity/",
]


@pytest.fixture
def written(ada_mcp: McpClient) -> Json:
    """Ids by kind."""
    ada_mcp.call("decision", "set", key="k", value=1)
    ada_mcp.call("decision", "set", key="k", value=2)
    pad = ada_mcp.call("scratchpad", "create", workflow_id=workflow(ada_mcp), name="p", content="x")
    memory = ada_mcp.call("memory", "add", title="t", content="x")["id"]
    ada_mcp.call("memory", "update", id=memory, content="y")
    session = ada_mcp.call("session", "save", summary="so")["session"]
    ada_mcp.call("session", "track", path="a.py", access="viewed")
    return {
        "constraints": ada_mcp.call("constraint", "add", category="style", text="x")["id"],
        "memories": memory,
        "scratchpads": pad["scratchpad_id"],
        "snapshots": ada_mcp.call("snapshot", "save", content="so")["id"],
        "sessions": session,
    }


@pytest.mark.parametrize("path", ITEMS)
def test_rest_names_the_author_beside_the_older_name(written: Json, ada_rest: RestClient, path: str) -> None:
    noun = path.partition("/")[0]
    at = path.replace("/1/", f"/{written[noun]}/", 1) if noun in written else path
    body = ada_rest.get(at).body
    items = [*(body["items"] if "count" in body else [body]), *body.get("history", [])]
    assert items
    for item in items:
        assert item["by"] == item["agent"] == "ada", item


def test_what_a_write_answers_names_the_author(ada_rest: RestClient) -> None:
    made = ada_rest.post("decisions/", {"key": "k", "value": 1}, WHOLE).body
    assert (made["agent"], made["by"]) == ("ada", "ada")
    changed = ada_rest.patch("decisions/k/", {"value": 2}).body
    assert (changed["agent"], changed["by"]) == ("ada", "ada")


def test_a_receipt_has_a_recipient_and_no_author(ada_rest: RestClient, ben_mcp: McpClient) -> None:
    sent = ada_rest.post("messages/", {"text": "x", "to": ["ben"]}).body["id"]
    [receipt] = ada_rest.get(f"messages/{sent}/status/").body["items"]
    assert (receipt["agent"], "by" in receipt) == ("ben", False)


def test_of_a_request_by_is_who_holds_it(ada_rest: RestClient, ben_rest: RestClient) -> None:
    sent = ada_rest.post("messages/", {"text": "x", "to": ["ben"], "type": "request"}).body["id"]
    ben_rest.post(f"messages/{sent}/claim/")
    message = ada_rest.get(f"messages/{sent}/").body
    assert (message["from"], message["by"]) == ("ada", "ben")


def test_lists_over_mcp_keep_their_columns(written: Json, ada_mcp: McpClient) -> None:
    for tool in ("decision", "constraint", "snapshot", "session"):
        columns = ada_mcp.call(tool, "list")["columns"]
        assert ("agent" in columns, "by" in columns) == (True, False)
    assert "by" not in ada_mcp.call("decision", "get", key="k")["decision"]


def test_what_a_user_stores_stays_as_it_is() -> None:
    stored = {"agent": "ada", "alternatives": [{"agent": "x"}], "metadata": {"agent": "y"}}
    assert with_author(stored) == {**stored, "by": "ada"}
