"""Why, chain and impact of any ref, over MCP and over REST."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from sessions.windows import opening  # noqa: F401  # Says which session a call belongs to.
from tests.hub import LiveHub, McpClient, RestClient

KEY = "decision:api/auth"


@pytest.fixture
def note(ada_mcp: McpClient) -> str:
    """A memory that rests on a decision, which rests on a snapshot."""
    ada_mcp.call("decision", "set", key="api/auth", value="JWT")
    row_id = ada_mcp.call("memory", "add", title="Tokens", content="They expire.")["id"]
    snapshot = ada_mcp.call("snapshot", "save", content="Redis lost sessions.", dependencies=[])["id"]
    ada_mcp.call("memory", "relate", source=row_id, target=KEY, relation="depends_on")
    ada_mcp.call("memory", "relate", source=f"snapshot:{snapshot}", target=KEY, relation="blocks")
    return f"memory:{row_id}"


def rows(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["action_type"], row["depth"], row["link"]) for row in answer["items"]]


CHAIN = [("conversation", 0, "blocks"), ("decision", 1, "depends_on"), ("memory", 2, None)]
IMPACT = [("memory", 1, "depends_on")]
WHY = [("decision", 0, None), ("conversation", 1, "blocks")]


def test_an_agent_asks_about_any_ref(ben_mcp: McpClient, note: str) -> None:
    assert rows(ben_mcp.call("snapshot", "chain", id=note, format="objects")) == CHAIN
    assert rows(ben_mcp.call("snapshot", "impact", id=KEY, format="objects")) == IMPACT
    assert rows(ben_mcp.call("snapshot", "why", id=f" Decision: {KEY[9:]} ", format="objects")) == WHY
    assert rows(ben_mcp.call("snapshot", id=KEY, format="objects")) == WHY


def test_rows_name_a_snapshot_by_its_number_and_others_by_ref(ada_mcp: McpClient, note: str) -> None:
    found = ada_mcp.call("snapshot", "chain", id=note)
    assert found["columns"] == ["id", "depth", "action_type", "summary", "link", "at"]
    number, *refs = (row[0] for row in found["rows"])
    assert (isinstance(number, int), refs) == (True, [KEY, note])
    assert [row[3] for row in found["rows"]] == ["Redis lost sessions.", "JWT", "Tokens"]


def test_a_snapshot_is_answered_as_before(ada_mcp: McpClient, note: str) -> None:
    row_id = ada_mcp.call("snapshot", "list")["rows"][0][0]
    for written in (row_id, float(row_id), str(row_id), f"snapshot:{row_id}", f" SNAPSHOT: {row_id} "):
        why = ada_mcp.call("snapshot", "why", id=written)
        assert (why["id"], why["caused_by"], why["dependents"]) == (row_id, None, 0)
        assert ada_mcp.call("snapshot", "chain", id=written)["rows"][-1][0] == row_id
        assert ada_mcp.call("snapshot", "impact", id=written)["rows"][0][0] == KEY


def test_an_answer_keeps_to_a_budget(ada_mcp: McpClient, note: str) -> None:
    for action in ("why", "chain"):
        answer = ada_mcp.call("snapshot", action, id=note, max_tokens=60)
        assert answer["omitted"] > 0


@pytest.mark.parametrize("action", ["why", "chain", "impact"])
@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (0, "not_found", "There is no snapshot 0"),
        (-1, "not_found", "There is no snapshot -1"),
        (10**30, "not_found", "There is no snapshot 1000"),
        ("snapshot:999999", "not_found", "There is no snapshot 999999"),
        ("decision:none", "not_found", "There is no decision 'none'"),
        ("template:none", "not_found", "There is no template 'none'"),
        ("memory:x", "not_found", "There is no memory 'x'"),
        ("snapshot:x", "invalid", "'snapshot:x' is neither the id of a snapshot nor a ref"),
        ("nothing", "invalid", "'nothing' is neither the id of a snapshot nor a ref"),
        ("", "invalid", "neither"),
        ("17.5", "invalid", "neither"),
        ("agent:ada", "invalid", "agent"),
        ("memory:", "invalid", "is not a ref"),
        ([17], "invalid", "id"),
        (True, "invalid", "id"),
    ],
)
def test_a_bad_ref_is_refused(ada_mcp: McpClient, action: str, given: Any, error: str, says: str) -> None:
    answer = ada_mcp.call("snapshot", action, id=given)
    assert answer["error"] == error
    assert says in answer["message"]


def test_a_program_asks_about_any_ref(ada_rest: RestClient, note: str) -> None:
    assert rows(ada_rest.get("links/chain/", ref=note).body) == CHAIN
    assert rows(ada_rest.get("links/impact/", ref=KEY).body) == IMPACT
    assert rows(ada_rest.get("links/why/", ref=KEY).body) == WHY
    assert ada_rest.get("links/chain/", ref=note, max_tokens=60).body["omitted"] > 0
    called = ada_rest.post("call/snapshot/chain/", {"id": note, "format": "objects"}).body
    assert called["items"] == ada_rest.get("links/chain/", ref=note).body["items"]


def test_the_addresses_of_a_snapshot_answer_the_same(ada_rest: RestClient, note: str) -> None:
    row_id = ada_rest.get("snapshots/").body["items"][0]["id"]
    for walk in ("chain", "impact"):
        own = ada_rest.get(f"snapshots/{row_id}/{walk}/").body
        assert own == ada_rest.get(f"links/{walk}/", ref=f"snapshot:{row_id}").body
    assert own["items"][0]["id"] == KEY


@pytest.mark.parametrize("walk", ["why", "chain", "impact"])
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 400),
        ({"ref": ""}, 400),
        ({"ref": "17"}, 400),
        ({"ref": "agent:ada"}, 400),
        ({"ref": KEY, "depth": 2}, 400),
        ({"ref": KEY, "max_tokens": 0}, 400),
        ({"ref": "decision:none"}, 404),
        ({"ref": "snapshot:999999"}, 404),
        ({"ref": "template:deprecation"}, 200),
    ],
)
def test_a_bad_query_is_refused(
    ada_rest: RestClient, note: str, walk: str, query: dict[str, Any], status: int
) -> None:
    assert ada_rest.get(f"links/{walk}/", **query).status == status


def test_another_project_sees_nothing(cy_mcp: McpClient, cy_rest: RestClient, note: str) -> None:
    for walk in ("why", "chain", "impact"):
        assert cy_mcp.call("snapshot", walk, id=note)["error"] == "not_found"
        assert cy_rest.get(f"links/{walk}/", ref=KEY).status == 404


def test_a_reader_may_ask_and_a_writer_alone_may_not(hub: LiveHub, apollo: Project, note: str) -> None:
    for scope, status in (("read", 200), ("write", 403)):
        client = hub.rest(create_token(project=apollo, agent="rea", scopes=[scope]).secret)
        assert client.get("links/chain/", ref=KEY).status == status
