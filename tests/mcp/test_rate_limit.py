"""The rate limit of a token, as it is told over MCP and over REST."""

from collections.abc import Callable

import pytest
from pytest_django import Settings

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from ctxhub.toolbox import rates
from tests.hub import LiveHub, Reply

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

Ask = Callable[[LiveHub, str], Reply]


def over_mcp(hub: LiveHub, token: str) -> Reply:
    return hub.mcp(token).send("POST", "/mcp", PING)


def over_rest(hub: LiveHub, token: str) -> Reply:
    return hub.rest(token).get("stats/")


faces = pytest.mark.parametrize("ask", [over_mcp, over_rest])


def told(reply: Reply) -> tuple[str | None, ...]:
    return tuple(reply.headers.get(name.lower()) for name in rates.HEADERS)


@pytest.fixture
def secret(hub: LiveHub, apollo: Project, settings: Settings) -> str:
    rates._windows.clear()
    settings.RATE_LIMIT = 2
    return create_token(project=apollo, scopes=["read"]).secret


@faces
def test_an_answer_tells_what_is_left(ask: Ask, hub: LiveHub, secret: str) -> None:
    replies = [ask(hub, secret) for _ in range(2)]
    assert [reply.status for reply in replies] == [200, 200]
    assert [told(reply)[:2] for reply in replies] == [("2", "1"), ("2", "0")]
    assert all(0 < int(told(reply)[2] or 0) <= 60 for reply in replies)


@faces
def test_a_request_above_it_is_told_the_limit_and_when_to_return(ask: Ask, hub: LiveHub, secret: str) -> None:
    *_, reply = [ask(hub, secret) for _ in range(3)]
    error = reply.body if ask is over_rest else reply.body["error"]["data"]
    wait = error["retry_after"]
    assert (reply.status, error["error"], error["limit"]) == (429, "limit_reached", 2)
    assert 1 <= wait <= 60
    assert told(reply) == ("2", "0", str(wait))
    assert reply.headers["retry-after"] == str(wait)


def test_both_faces_count_for_one_token_and_each_token_for_itself(
    hub: LiveHub, apollo: Project, secret: str
) -> None:
    assert [over_mcp(hub, secret).status, over_rest(hub, secret).status] == [200, 200]
    assert [over_mcp(hub, secret).status, over_rest(hub, secret).status] == [429, 429]
    other = create_token(project=apollo, scopes=["read"]).secret
    assert over_mcp(hub, other).status == 200


@faces
def test_without_a_limit_nothing_is_told(ask: Ask, hub: LiveHub, secret: str, settings: Settings) -> None:
    settings.RATE_LIMIT = 0
    assert told(ask(hub, secret)) == (None, None, None)
    assert [ask(hub, secret).status for _ in range(4)] == [200] * 4
