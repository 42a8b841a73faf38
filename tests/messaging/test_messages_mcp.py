"""Messages over the MCP wire."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.dispatch import as_text, call
from messaging.models import Message
from tests.hub import LiveHub, McpClient
from tests.tokens import o200k


def sent(client: McpClient, text: str = "hello", **rest: Any) -> int:
    row_id: int = client.call("message", "send", text=text, **rest)["id"]
    return row_id


def inbox(client: McpClient, **query: Any) -> list[str]:
    answer = client.call("message", "inbox", format="objects", **query)
    return [item["text"] for item in answer["items"]]


def test_one_agent_sends_a_request_and_another_finishes_it(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    first = sent(ada_mcp, "Please look.", to=["ben"], type="request", priority="high", ack=True)
    [row] = ben_mcp.rows("message", "inbox")
    assert (row["id"], row["from"], row["to"], row["priority"], row["ack"]) == (
        first,
        "ada",
        ["ben"],
        "high",
        True,
    )
    assert ben_mcp.call("message", "ack", ids=[first]) == {"acked": 1}
    assert ben_mcp.call("message", "claim", id=first)["claimed"]["by"] == "ben"
    assert ben_mcp.call("message", "send", text="Done.", reply_to=first)["to"] == ["ada"]
    assert ben_mcp.call("message", "done", id=first, result_refs=[f"message:{first}"])["state"] == "done"
    thread = [row["text"] for row in ada_mcp.rows("message", "thread", id=first)]
    assert thread[:2] == ["Please look.", "Done."]
    assert thread[2].startswith(f"Your request message:{first} is done: Please look.")
    status = ada_mcp.call("message", "status", id=first)
    assert (status["state"], status["by"], status["rows"][0][0]) == ("done", "ben", "ben")
    assert ada_mcp.call("message", "read", all=True)["marked"] == 2


def test_any_answer_counts_urgent_messages(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = sent(ada_mcp, to=["ben"], priority="critical")
    sent(ada_mcp, to=["ben"])
    assert ben_mcp.call("hub", "stats")["mail"] == 1
    ben_mcp.call("message", "read", ids=[row_id])
    assert "mail" not in ben_mcp.call("hub", "stats")


def test_a_new_agent_sees_messages_to_everyone_at_once(hub: LiveHub, ada: Caller, ada_mcp: McpClient) -> None:
    sent(ada_mcp, "all")
    client = hub.mcp(create_token(project=ada.project, name="newcomer").secret)
    assert inbox(client) == ["all"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"a", "b"}),
        ({"unread": False}, {"a", "b", "read"}),
        ({"unread": "false"}, {"a", "b", "read"}),
        ({"type": 3}, {"b"}),
        ({"priority": "HIGH"}, {"a"}),
        ({"priority": 3}, {"a"}),
        ({"state": "done"}, set()),
        ({"since": "1h"}, {"a", "b"}),
        ({"since": "e999999"}, {"a", "b"}),
        ({"limit": 1}, {"a"}),
        ({"wait_seconds": 0}, {"a", "b"}),
    ],
)
def test_each_argument_of_the_inbox_narrows_it(
    ada_mcp: McpClient, ben_mcp: McpClient, query: dict[str, Any], expected: set[str]
) -> None:
    if query.get("since") == "e999999":
        expected = set()
    sent(ada_mcp, "a", to=["ben"], priority="high")
    sent(ada_mcp, "b", to=["ben"], type="request")
    ben_mcp.call("message", "read", ids=[sent(ada_mcp, "read", to=["ben"])])
    assert set(inbox(ben_mcp, **query)) == expected


def test_a_budget_cuts_rows_and_the_cursor_continues(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ada_mcp.call(
        "message", "send_batch", items=[{"text": f"{n} {'word ' * 50}", "to": "ben"} for n in range(4)]
    )
    page = ben_mcp.call("message", "inbox", max_tokens=200)
    assert (page["count"], page["omitted"]) == (1, 3)
    assert ben_mcp.call("message", "inbox", cursor=page["next"])["count"] == 3


# -- Argument formats ------------------------------------------------------------------------------


def test_a_missing_action_is_inferred_from_the_arguments(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    assert ada_mcp.call("message", text="hello", to="ben")["to"] == ["ben"]
    assert ben_mcp.call("message")["count"] == 1
    assert ben_mcp.call("message", limit=1)["count"] == 1
    assert ben_mcp.call("message", id=1)["error"] == "invalid"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"to": "zoe"}, {"to": ["zoe"]}),
        ({"to": '["zoe","eve"]'}, {"to": ["eve", "zoe"]}),
        ({"payload": '{"a":{"b":[1]}}'}, {"payload": {"a": {"b": [1]}}}),
        ({"payload": "[1,2]"}, {"payload": [1, 2]}),
        ({"payload": "{no json"}, {"payload": "{no json"}),
        ({"payload": 5}, {"payload": 5}),
        ({"payload": True}, {"payload": True}),
        ({"text": '{"a":1}'}, {"text": '{"a":1}'}),
        ({"type": "Warning"}, {"type": "warning"}),
        ({"priority": 4}, {"priority": "critical"}),
        ({"ack": "true"}, {"ack": True}),
        ({"ack_within": "2h"}, {"ack": True}),
    ],
)
def test_arguments_are_accepted_in_the_formats_of_clients(
    ada_mcp: McpClient, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    row_id = sent(ada_mcp, **{"text": "x", "to": ["zoe"], **arguments})
    [item] = ada_mcp.call("get", refs=[f"message:{row_id}"])["items"]
    assert {name: item.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("action", "arguments", "expected"),
    [
        (
            "send",
            {"text": "x", "from_agent": "ben"},
            {"leave_out": ["from_agent"], "hint": "Leave out from_agent: you speak as ada."},
        ),
        ("inbox", {"agent_name": "ben"}, {"error": "invalid", "hint": "You speak as ada."}),
        ("inbox", {"agent_name": "ada"}, {"leave_out": ["agent_name"]}),
        ("claim", {"message": 1}, {"error": "invalid"}),
        ("send", {"text": "x", "type": "question"}, {"did_you_mean": "request"}),
        ("send", {"text": "x", "priority": "urgent"}, {"did_you_mean": "critical"}),
        ("send", {"text": "x", "to": ["ada"]}, {"error": "invalid"}),
        ("send", {"text": "x", "reply_to": 999_999}, {"error": "not_found"}),
        ("inbox", {"state": "new"}, {"allowed": ["open", "claimed", "done"]}),
        ("read", {}, {"error": "invalid", "missing": ["ids"]}),
        ("ack", {}, {"missing": ["ids"]}),
        ("ack", {"ids": [999_999]}, {"error": "not_found"}),
        ("thread", {"id": 999_999}, {"error": "not_found"}),
        ("thread", {"id": 2**70}, {"error": "not_found"}),
        ("status", {"id": 0}, {"error": "not_found"}),
        ("claim", {}, {"missing": ["id"]}),
        ("claim", {"next": True, "minutes": 0}, {"error": "invalid"}),
        ("done", {"id": 999_999}, {"error": "not_found"}),
        ("done", {"id": 1, "result_refs": ["x"]}, {"error": "invalid"}),
    ],
)
def test_an_error_suggests_the_right_call(
    ada_mcp: McpClient, action: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = ada_mcp.call("message", action, **arguments)
    assert {name: answer.get(name) for name in expected} == expected, answer
    assert not Message.unscoped.exists()


def test_help_shows_every_action_with_an_example_that_works(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = sent(ben_mcp, type="request", ack=True)
    ada_mcp.call("decision", "set", key="api/auth/method", value="JWT")
    for name, entry in ada_mcp.call("message", "help")["actions"].items():
        example = entry["example"]
        example |= {key: value for key, value in (("id", row_id), ("ids", [row_id])) if key in example}
        assert "error" not in ada_mcp.call("message", **example), name


# -- Permissions -----------------------------------------------------------------------------------


def test_each_agent_of_a_connection_has_its_own_inbox(hub: LiveHub, ada: Caller) -> None:
    client = hub.mcp(create_token(project=ada.project, name="crew").secret)
    sent(client, "for two", to=["two"], agent="one")
    assert (inbox(client, agent="two"), inbox(client, agent="one"), inbox(client)) == (["for two"], [], [])


def test_a_pinned_token_cannot_read_another_inbox(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    assert ben_mcp.call("message", "inbox", agent="ada")["error"] == "not_allowed"


# -- Token costs -----------------------------------------------------------------------------------

TEXT = (
    "The build on main is red since your last change: tests/test_auth.py fails in test_refresh with a 401 "
    "where it wants a 200. I think the audience is checked before the key is rotated. Could you look before "
    "noon, and say whether I should revert it? Thank you!"
)


def test_ten_messages_of_60_tokens_cost_at_most_980(ada: Caller, ben: Caller) -> None:
    assert 59 <= o200k(TEXT) <= 61
    for n in range(10):
        arguments = {"text": TEXT, "to": ["ben"], "type": "request", "priority": n % 4 + 1}
        call(ada, "message", arguments)
    answer = call(ben, "message", {"action": "inbox"})
    assert answer["count"] == 10
    cost = o200k(as_text(answer))
    assert cost <= 980
