"""Prioritisation over MCP and REST: every argument, bad input, strangers and readers."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.text.token_count import count_tokens
from sessions.accesses.models import Mode
from sessions.models import AgentSession
from tests.hub import LiveHub, McpClient, RestClient
from tests.sessions.files import add_file, session_of, stored

TEXT = "It rotates the tokens of agents.\n" * 30
TOKENS = count_tokens(TEXT)


@pytest.fixture
def session(hub: LiveHub, ada: Caller) -> AgentSession:
    made = session_of(ada, "mine")
    add_file(made, ada, "docs/a.md", TEXT)
    return made


def address(session: AgentSession) -> str:
    return f"sessions/{session.pk}/prioritize/"


def test_over_mcp_with_every_argument(session: AgentSession, ada_mcp: McpClient) -> None:
    answer = ada_mcp.call(
        "session", "prioritize", budget_tokens=TOKENS, session=session.pk, query="tokens", content=True
    )
    [found] = answer["included"]
    assert (found["mode"], found["text"], found["tokens"]) == ("full", TEXT, TOKENS)
    assert (answer["excluded"], answer["tokens_used"], answer["tokens_remaining"]) == ([], TOKENS, 0)
    assert stored(session)["docs/a.md"][1:] == (True, Mode.FULL, None)


def test_over_rest_with_every_argument(session: AgentSession, ada_rest: RestClient) -> None:
    body = {"budget_tokens": TOKENS, "query": "tokens", "content": True}
    reply = ada_rest.post(address(session), body)
    [found] = reply.body["included"]
    assert (reply.status, found["mode"], found["text"]) == (200, "full", TEXT)
    assert stored(session)["docs/a.md"][1:] == (True, Mode.FULL, None)


@pytest.mark.parametrize("named", ["mine", "id", "ref"])
def test_a_session_is_named_over_mcp(session: AgentSession, ada_mcp: McpClient, named: str) -> None:
    name = {"mine": "mine", "id": str(session.pk), "ref": session.ref}[named]
    answer = ada_mcp.call("session", "prioritize", budget_tokens=TOKENS, session=name)
    assert [(file["path"], "text" in file) for file in answer["included"]] == [("docs/a.md", False)]


def test_without_a_session_the_answer_is_empty(session: AgentSession, ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("session", "prioritize", budget_tokens=7)
    assert answer == {"included": [], "excluded": [], "tokens_used": 0, "tokens_remaining": 7}


BAD: list[dict[str, Any]] = [
    {},
    {"budget_tokens": "many"},
    {"budget_tokens": True},
    {"budget_tokens": -1},
    {"budget_tokens": 2_000_001},
    {"budget_tokens": 18_001, "content": True},
    {"budget_tokens": 1, "query": " "},
    {"budget_tokens": 1, "query": ["a"]},
    {"budget_tokens": 1, "content": "perhaps"},
    {"budget_tokens": 1, "budget": 1},
]


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_bad_input_is_refused_over_mcp(
    session: AgentSession, ada_mcp: McpClient, arguments: dict[str, Any]
) -> None:
    assert ada_mcp.call("session", "prioritize", session=session.pk, **arguments)["error"] == "invalid"


@pytest.mark.parametrize("body", [*BAD, {"budget_tokens": "5"}, {"budget_tokens": 5, "session": 1}], ids=str)
def test_bad_input_is_refused_over_rest(
    session: AgentSession, ada_rest: RestClient, body: dict[str, Any]
) -> None:
    assert ada_rest.post(address(session), body).status == 400
    assert stored(session) == {"docs/a.md": (0, False, None, None)}


def test_an_unknown_session_is_not_found(
    session: AgentSession, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    error = ada_mcp.call("session", "prioritize", budget_tokens=5, session=session.pk + 1)
    assert error["error"] == "not_found"
    assert ada_rest.post(f"sessions/{session.pk + 1}/prioritize/", {"budget_tokens": 5}).status == 404


def test_another_agents_session_is_not_allowed(
    session: AgentSession, ben_mcp: McpClient, ben_rest: RestClient
) -> None:
    error = ben_mcp.call("session", "prioritize", budget_tokens=5, session="mine")
    assert (error["error"], "another agent's" in error["message"]) == ("not_allowed", True)
    assert ben_rest.post(address(session), {"budget_tokens": 5}).status == 403


def test_a_stranger_finds_no_session(session: AgentSession, cy_mcp: McpClient, cy_rest: RestClient) -> None:
    error = cy_mcp.call("session", "prioritize", budget_tokens=5, session=session.pk)
    assert error["error"] == "not_found"
    assert cy_rest.post(address(session), {"budget_tokens": 5}).status == 404
    assert stored(session) == {"docs/a.md": (0, False, None, None)}


def test_a_reader_may_not_prioritize(session: AgentSession, hub: LiveHub, apollo: Project) -> None:
    token = create_token(project=apollo, agent="ada", scopes=["read"]).secret
    error = hub.mcp(token).call("session", "prioritize", budget_tokens=5, session="mine")
    assert error["error"] == "not_allowed"
    assert hub.rest(token, project="apollo").post(address(session), {"budget_tokens": 5}).status == 403
    assert stored(session) == {"docs/a.md": (0, False, None, None)}


def test_a_repeated_request_is_answered_from_the_first(session: AgentSession, ada_rest: RestClient) -> None:
    headers = {"Idempotency-Key": "one"}
    first = ada_rest.post(address(session), {"budget_tokens": TOKENS}, headers=headers)
    session.resources.all().delete()
    assert ada_rest.post(address(session), {"budget_tokens": TOKENS}, headers=headers).body == first.body
