"""What `hub updates` and `wait` tell of messages, over MCP and REST: what is new, and what waits."""

from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from memory.decisions.services import set_decision
from messaging.messages.requests import claim_request
from messaging.messages.services import acknowledge_messages, read_messages_of, send_message
from messaging.models import Message
from tests.hub import McpClient, RestClient

Updates = Callable[..., dict[str, Any]]


@pytest.fixture(params=["updates over MCP", "updates over REST", "wait over MCP", "wait over REST"])
def updates(request: pytest.FixtureRequest, ada_mcp: McpClient, ada_rest: RestClient) -> Updates:
    """What is new to ada since a cursor, without the next cursor."""
    action, _, face = request.param.partition(" over ")
    now = {"wait_seconds": 0} if action == "wait" else {}

    def read(since: str) -> dict[str, Any]:
        over_rest = face == "REST"
        answer: dict[str, Any] = (
            ada_rest.get("updates/", since=since, **now).body
            if over_rest
            else ada_mcp.call("hub", action, since=since, **now)
        )
        return {name: value for name, value in answer.items() if name != "cursor"}

    return read


@pytest.fixture
def cursor(ada_mcp: McpClient) -> Callable[[], str]:
    return lambda: ada_mcp.call("hub", "updates")["cursor"]


def test_a_new_message_is_news_once(updates: Updates, cursor: Callable[[], str], ben: Caller) -> None:
    before = cursor()
    send_message(caller=ben, text="Hello.", to=["ada"])
    send_message(caller=ben, text="Hello all.")
    after = cursor()
    assert updates(before) == {"messages": 2}
    assert updates(after) == {}


def test_urgent_mail_that_waits_is_told_as_mail(
    updates: Updates, cursor: Callable[[], str], ben: Caller
) -> None:
    before = cursor()
    send_message(caller=ben, text="Stop.", to=["ada"], priority="high")
    after = cursor()
    assert updates(before) == {"messages": 1, "mail": 1}
    assert updates(after) == {"mail": 1}
    set_decision(caller=ben, key="k", value="x")
    assert updates(after) == {"decisions": 1, "mail": 1}


@pytest.mark.every_engine
def test_what_was_read_or_is_for_others_is_no_news(
    updates: Updates, cursor: Callable[[], str], ada: Caller, ben: Caller
) -> None:
    before = cursor()
    sent = send_message(caller=ben, text="Hello.", to=["ada"])
    send_message(caller=ben, text="Hello, Cid.", to=["cid"])
    send_message(caller=ada, text="My own.", to=["ben"])
    read_messages_of(caller=ada, ids=[sent["id"]])
    assert updates(before) == {}


def test_another_agents_claim_makes_no_old_message_new(
    updates: Updates, cursor: Callable[[], str], ben: Caller, ada: Caller
) -> None:
    cid = Caller(project=ada.project, agent="cid")
    send_message(caller=cid, text="Who can?", to=["ada", "ben"], type="request")
    before = cursor()
    claim_request(caller=ben, following=True)
    assert updates(before) == {}


def test_own_messages_that_others_dealt_with_are_news(
    updates: Updates, cursor: Callable[[], str], ada: Caller, ben: Caller
) -> None:
    send_message(caller=ada, text="Please.", to=["ben"], type="request")
    asked = send_message(caller=ada, text="Deploy at noon.", ack=True)
    before = cursor()
    claim_request(caller=ben, following=True)
    acknowledge_messages(caller=ben, ids=[asked["id"]])
    assert updates(before) == {"messages": 2}


def test_a_time_finds_the_same(updates: Updates, ben: Caller) -> None:
    send_message(caller=ben, text="Hello.", to=["ada"])
    assert updates("1h") == {"messages": 1}
    assert updates("2099-01-01") == {}


def test_without_since_all_that_is_unread_is_counted(ada_mcp: McpClient, ben: Caller) -> None:
    send_message(caller=ben, text="Hello.", to=["ada"])
    assert ada_mcp.call("hub", "updates")["messages"] == 1
    read_messages_of(caller=Caller(ben.project, "ada"), everything=True)
    assert "messages" not in ada_mcp.call("hub", "updates")


def test_a_message_that_is_gone_is_no_news(updates: Updates, cursor: Callable[[], str], ben: Caller) -> None:
    before = cursor()
    send_message(caller=ben, text="Hello.", to=["ada"])
    Message.objects.in_project(ben.project).all().delete()
    assert updates(before) == {}
