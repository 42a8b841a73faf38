"""Constraints over MCP and REST: what they have beside what all nouns do."""

from typing import Any

import pytest

from tests.hub import WHOLE, McpClient, RestClient

TEXT = "Every address of the API asks for a token."
MADE = {"category": "security", "text": TEXT}


def add(client: RestClient, **rest: Any) -> str:
    """The address of a new one."""
    return f"constraints/{client.post('constraints/', {**MADE, **rest}).body['id']}/"


def test_a_constraint_is_added_deactivated_and_activated(ada_mcp: McpClient) -> None:
    row_id = ada_mcp.call("constraint", "add", **MADE)["id"]
    assert ada_mcp.call("constraint", "add", category="Security", text=TEXT) == {
        "id": row_id,
        "result": "exists",
    }
    ended = ada_mcp.call("constraint", "deactivate", id=row_id, reason="It is not public any more.")
    assert ended == {"id": row_id, "status": "inactive", "result": "updated"}
    assert ada_mcp.call("constraint", "deactivate", id=row_id)["result"] == "unchanged"
    revived = ada_mcp.call("constraint", "activate", id=row_id)
    assert revived == {"id": row_id, "status": "active", "result": "updated"}


def test_a_missing_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("constraint", **MADE)["result"] == "created"
    assert ada_mcp.call("constraint")["count"] == 1
    assert ada_mcp.call("constraint", text=TEXT)["missing"] == ["category"]


def test_posting_an_existing_constraint_answers_200(ada_rest: RestClient, ben_rest: RestClient) -> None:
    first = ada_rest.post("constraints/", {**MADE, "priority": "high"})
    again = ben_rest.post("constraints/", {**MADE, "priority": "low"}, WHOLE)
    assert (again.status, again.body["result"], again.body["id"]) == (200, "exists", first.body["id"])
    assert "priority" in again.body["hint"]
    assert again.body["priority"] == "high"


def test_patching_the_status_deactivates_and_activates(ada_rest: RestClient) -> None:
    path = add(ada_rest)
    for status, shown in (("inactive", "inactive"), ("ACTIVE", "active"), (2, "inactive")):
        changed = ada_rest.patch(path, {"status": status, "reason": "So it was decided."})
        assert (changed.status, changed.body["status"], changed.body["result"]) == (200, shown, "updated")
        assert ada_rest.patch(path, {"status": status}).body["result"] == "unchanged"
    notes = [item["note"] for item in ada_rest.get("activity/").body["items"]]
    assert notes == ["So it was decided."] * 3 + ["security, medium"]


@pytest.mark.parametrize("body", [{}, {"status": "odd"}, {"priority": "low"}], ids=str)
def test_a_bad_patch_is_invalid(ada_rest: RestClient, body: dict[str, Any]) -> None:
    path = add(ada_rest)
    reply = ada_rest.patch(path, body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert ada_rest.get(path).body["status"] == "active"
    assert ada_rest.patch("constraints/0/", {"status": "inactive"}).status == 404


def test_the_reason_of_a_deactivation_is_taken(ada_rest: RestClient) -> None:
    ada_rest.post(f"{add(ada_rest)}deactivate/", {"reason": "It is not public any more."})
    assert ada_rest.get("activity/", limit=1).body["items"][0]["note"] == "It is not public any more."


def test_a_list_is_filtered_by_status(ada_rest: RestClient) -> None:
    ada_rest.post(f"{add(ada_rest, text='old')}deactivate/")
    add(ada_rest)
    for status, expected in (("", [TEXT]), ("2", ["old"]), ("any", [TEXT, "old"])):
        items = ada_rest.get("constraints/", **({"status": status} if status else {})).body["items"]
        assert [item["text"] for item in items] == expected


def test_categories_come_most_used_first(ada_rest: RestClient) -> None:
    for category, text in (("security", "one"), ("Cost", "three"), ("security", "two")):
        add(ada_rest, category=category, text=text)
    items = ada_rest.get("categories/", limit=3).body["items"]
    assert [(item["name"], item["uses"]) for item in items][:2] == [("security", 2), ("Cost", 1)]
