"""The rate limit of a token, as it is told over MCP and over REST."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from django.db import connection
from pytest_django import Settings

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from ctxhub.toolbox import rates
from tests.core.command_line import migrated_installation
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


@pytest.mark.one_engine
@faces
def test_an_answer_tells_what_is_left(ask: Ask, hub: LiveHub, secret: str) -> None:
    replies = [ask(hub, secret) for _ in range(2)]
    assert [reply.status for reply in replies] == [200, 200]
    assert [told(reply)[:2] for reply in replies] == [("2", "1"), ("2", "0")]
    assert all(0 < int(told(reply)[2] or 0) <= 60 for reply in replies)


@pytest.mark.one_engine
@faces
def test_a_request_above_it_is_told_the_limit_and_when_to_return(ask: Ask, hub: LiveHub, secret: str) -> None:
    *_, reply = [ask(hub, secret) for _ in range(3)]
    error = reply.body if ask is over_rest else reply.body["error"]["data"]
    wait = error["retry_after"]
    assert (reply.status, error["error"], error["limit"]) == (429, "limit_reached", 2)
    assert 1 <= wait <= 60
    assert told(reply) == ("2", "0", str(wait))
    assert reply.headers["retry-after"] == str(wait)


@pytest.mark.one_engine
def test_both_faces_count_for_one_token_and_each_token_for_itself(
    hub: LiveHub, apollo: Project, secret: str
) -> None:
    assert [over_mcp(hub, secret).status, over_rest(hub, secret).status] == [200, 200]
    assert [over_mcp(hub, secret).status, over_rest(hub, secret).status] == [429, 429]
    other = create_token(project=apollo, scopes=["read"]).secret
    assert over_mcp(hub, other).status == 200


@pytest.mark.one_engine
@faces
def test_without_a_limit_nothing_is_told(ask: Ask, hub: LiveHub, secret: str, settings: Settings) -> None:
    settings.RATE_LIMIT = 0
    assert told(ask(hub, secret)) == (None, None, None)
    assert [ask(hub, secret).status for _ in range(4)] == [200] * 4


# -- Several processes ---------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize("limit", [7, 60])
def test_processes_on_postgresql_count_together(django_db_setup: None, limit: int) -> None:
    """A share of another process may be lost to a minute; more than the limit is never answered in one."""
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        token = (at.folder / "setup_token").read_text()
        limited = replace(at, environment={**at.environment, "CTXHUB_RATE_LIMIT": str(limit)})
        with limited.serving("--port", "0") as one, limited.serving("--port", "0") as other:
            asked = [(one.hub, over_mcp), (other.hub, over_demo)] * limit
            replies = [ask(hub, token) for hub, ask in asked]
    assert {reply.status for reply in replies} == {200, 429} if connection.vendor == "postgresql" else {200}
    if connection.vendor == "postgresql":
        minutes = by_minute(replies)
        assert all(answered(each) <= limit for each in minutes)
        assert len(minutes) > 1 or answered(replies) >= limit - 2 * (limit // rates.SHARE)
        assert {told(reply)[0] for reply in replies} == {str(limit)}


def over_demo(hub: LiveHub, token: str) -> Reply:
    return hub.rest(token, project="demo").get("stats/")


def by_minute(replies: Sequence[Reply]) -> list[list[Reply]]:
    """A new one begins where there is more time left than before."""
    minutes: list[list[Reply]] = [[]]
    for before, reply in zip([replies[0], *replies], replies, strict=False):
        if int(told(reply)[2] or 0) > int(told(before)[2] or 0) + 1:
            minutes.append([])
        minutes[-1].append(reply)
    return minutes


def answered(replies: Sequence[Reply]) -> int:
    return [reply.status for reply in replies].count(200)
