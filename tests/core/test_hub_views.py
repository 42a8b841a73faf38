"""The layer summary and the named views, over MCP and REST."""

from typing import Any

import pytest

from ctxhub.core.hub.named_views import all_views
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Layer
from ctxhub.toolbox.dispatch import call
from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine

LAYERS = ["presentation", "business", "data", "infrastructure", "cross-cutting"]
VIEWS = {
    "tagged_decisions",
    "active_context",
    "layer_summary",
    "unread_messages_by_priority",
    "recent_file_changes",
    "tagged_constraints",
}
COLUMNS = {
    "tagged_decisions": {"key", "value", "status", "layer", "tags", "scopes", "version", "agent", "updated"},
    "active_context": {"key", "value", "layer", "tags", "scopes", "version", "agent", "updated"},
    "layer_summary": {"layer", "decisions", "changes", "constraints"},
    "unread_messages_by_priority": {"agent", "priority", "count"},
    "recent_file_changes": {"path", "change", "by", "layer", "description", "at"},
    "tagged_constraints": {"category", "text", "priority", "layer", "tags", "agent", "at"},
}


@pytest.fixture
def busy(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    words = {"tags": ["api"], "scopes": ["web"]}
    for number in range(3):
        ada_mcp.call("decision", "set", key=f"k{number}", value=number, layer="business", **words)
        rule = ada_mcp.call(
            "constraint", "add", category="security", text=f"{number}.", layer="data", **words
        )
        ben_mcp.call(
            "file", "record", path=f"{number}.py", change="created", layer="data", description="New."
        )
        ben_mcp.call("message", "send", text="Hello.", to=["ada", f"agent-{number}"], priority="high")
    ada_mcp.call("decision", "set", key="draft", value=1, layer="business", status="draft")
    ada_mcp.call("constraint", "deactivate", id=rule["id"])


def layers(answer: dict[str, Any]) -> dict[str, list[int]]:
    return {row[0]: row[1:] for row in answer["rows"]}


# -- Layers ----------------------------------------------------------------------------------------


def test_the_summary_has_every_layer_also_empty_ones(busy: None, ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("hub", "layer_summary")
    assert answer["columns"] == ["layer", "decisions", "changes", "constraints"]
    assert list(layers(answer)) == LAYERS
    assert (layers(answer)["business"], layers(answer)["data"]) == ([3, 0, 0], [0, 3, 2])
    assert layers(answer)["presentation"] == [0, 0, 0]


def test_the_summary_over_rest_is_the_same(busy: None, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    columns = ("decisions", "changes", "constraints")
    items = ada_rest.get("layers/summary/").body["items"]
    assert {item["layer"]: [item[c] for c in columns] for item in items} == layers(
        ada_mcp.call("hub", "layer_summary")
    )


def test_an_added_layer_comes_last_in_the_summary(ada: Caller) -> None:
    Layer.objects.create(project=ada.project, name="review", position=9)
    call(ada, "decision", {"key": "k", "value": 1, "layer": "Review"})
    summary = layers(call(ada, "hub", {"action": "layer_summary"}))
    assert list(summary) == [*LAYERS, "review"]
    assert summary["review"][0] == 1


def test_many_changes_do_not_multiply_decisions(ada: Caller) -> None:
    """The original joined three tables, and counted each product."""
    for number in range(4):
        call(ada, "decision", {"key": f"k{number}", "value": 1, "layer": "data"})
        call(ada, "constraint", {"category": "security", "text": str(number), "layer": "data"})
        for _ in range(3):
            call(ada, "file", {"path": f"{number}.py", "change": "modified", "layer": "data"})
    assert layers(call(ada, "hub", {"action": "layer_summary"}))["data"] == [4, 12, 4]


def test_a_moved_decision_is_counted_in_its_new_layer(ada: Caller) -> None:
    call(ada, "decision", {"key": "k", "value": 1, "layer": "data"})
    call(ada, "decision", {"key": "k", "value": 1, "layer": "business"})
    summary = layers(call(ada, "hub", {"action": "layer_summary"}))
    assert (summary["data"][0], summary["business"][0]) == (0, 1)
    call(ada, "decision", {"action": "deprecate", "key": "k"})
    assert layers(call(ada, "hub", {"action": "layer_summary"}))["business"][0] == 0


# -- Views -----------------------------------------------------------------------------------------


def test_there_are_the_six_views_of_the_original() -> None:
    assert set(all_views()) == VIEWS


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_view_has_the_same_rows_over_mcp_and_rest(
    busy: None, ada_mcp: McpClient, ada_rest: RestClient, name: str
) -> None:
    rows = ada_mcp.rows("hub", "view", name=name)
    assert rows
    assert set(rows[0]) >= COLUMNS[name]
    items = ada_rest.get(f"views/{name}/").body["items"]
    assert [{column: item[column] for column in rows[0]} for item in items] == rows


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_view_comes_in_pages(busy: None, ada_mcp: McpClient, ada_rest: RestClient, name: str) -> None:
    whole = ada_mcp.call("hub", "view", name=name, limit=50)["rows"]
    paged: list[Any] = []
    answer = ada_mcp.call("hub", "view", name=name, limit=1)
    while True:
        paged += answer["rows"]
        if "next" not in answer:
            break
        answer = ada_mcp.call("hub", "view", name=name, limit=1, cursor=answer["next"])
    assert len(paged) == len(whole) >= 2
    first = ada_rest.get(f"views/{name}/", limit=1).body
    assert ada_rest.get(f"views/{name}/", limit=1, cursor=first["next"]).body["items"] != first["items"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "everything"},
        {"name": "active_context", "limit": 0},
        {"name": "active_context", "cursor": "x"},
        {},
    ],
)
def test_an_invalid_view_query_is_refused(
    ada_mcp: McpClient, ada_rest: RestClient, wrong: dict[str, Any]
) -> None:
    assert ada_mcp.call("hub", "view", **wrong)["error"] == "invalid"
    query = {name: value for name, value in wrong.items() if name != "name"}
    if "name" in wrong:
        assert ada_rest.get(f"views/{wrong['name']}/", **query).status in (400, 404)


def test_a_mistyped_view_gets_a_suggestion(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    assert ada_mcp.call("hub", "view", name="active_contxt")["did_you_mean"] == "active_context"
    assert ada_rest.get("views/active_contxt/").body["did_you_mean"] == "active_context"


# -- Agents ----------------------------------------------------------------------------------------


def test_agents_are_listed_with_their_leases_and_unread_messages(
    busy: None, ada_mcp: McpClient, ben_mcp: McpClient, ada_rest: RestClient
) -> None:
    ben_mcp.call("file", "lease", paths=["a/*"])
    rows = {row["name"]: row for row in ada_mcp.rows("hub", "agents")}
    assert (rows["ben"].get("leases"), rows["ada"].get("unread")) == (1, 3)
    items = {item["name"]: item for item in ada_rest.get("agents/").body["items"]}
    assert items["ben"]["leases"] == 1


def test_updates_count_new_messages_and_constraints(
    busy: None, ada_mcp: McpClient, ben_mcp: McpClient
) -> None:
    cursor = ada_mcp.call("hub", "updates")["cursor"]
    assert ada_mcp.call("hub", "updates")["messages"] == 3
    assert "messages" not in ada_mcp.call("hub", "updates", since=cursor)
    assert "messages" not in ben_mcp.call("hub", "updates", since="e0")
    assert ben_mcp.call("hub", "updates", since="e0")["constraints"] == 3
