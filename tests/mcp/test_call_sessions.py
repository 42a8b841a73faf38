"""The session that a call names over MCP: `_meta`, the header, and the options of `runmcp`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from ctxhub.management.commands.runmcp import find_caller, find_session_name
from tests.hub import LiveHub, McpClient
from tests.mcp.transcript import hello, request
from tests.probe import probe_tool
from tests.stdio import answered

pytestmark = pytest.mark.one_engine

CREDENTIAL = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture(autouse=True)
def _probe() -> Iterator[None]:
    with probe_tool():
        yield


def told(client: McpClient, meta: Any = None, **arguments: Any) -> Any:
    result = client.result("probe", {"action": "look", **arguments}, meta)
    return result["content"][0]["text"]


def session_of(client: McpClient, meta: Any = None, **arguments: Any) -> Any:
    return told(client, meta, **arguments).partition('"session":"')[2].partition('"')[0]


# -- HTTP ------------------------------------------------------------------------------------------


def test_the_argument_beats_meta_and_meta_the_header(hub: LiveHub, ada_token: str) -> None:
    client = hub.mcp(ada_token, **{"Ctxhub-Session": "header"})
    assert session_of(client) == "header"
    assert session_of(client, {"ctxhub/session": "meta"}) == "meta"
    assert session_of(client, {"ctxhub/session": 5}) == "5"
    assert session_of(client, {"ctxhub/session": "meta"}, session="argument") == "argument"
    assert session_of(client, {"ctxhub/session": ""}) == "header"


def test_a_call_that_names_no_session_has_none(ada_mcp: McpClient) -> None:
    assert session_of(ada_mcp) == ""
    assert '"has_window":false' in told(ada_mcp)


@pytest.mark.parametrize("named", [True, 5.5, ["evening"], "${SESSION}", CREDENTIAL, "x" * 101])
def test_bad_meta_is_invalid(ada_mcp: McpClient, named: Any) -> None:
    answer = told(ada_mcp, {"ctxhub/session": named})
    assert '"error":"invalid"' in answer
    assert "_meta['ctxhub/session']" in answer


@pytest.mark.parametrize("named", ["${SESSION}", CREDENTIAL, "x" * 101])
def test_a_bad_header_is_refused(hub: LiveHub, ada_token: str, named: str) -> None:
    reply = hub.mcp(ada_token).send("POST", "/mcp", {}, {"Ctxhub-Session": named})
    assert reply.status == 400
    assert "Ctxhub-Session" in reply.body["error"]["message"]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_session_in_the_header_may_have_accents(hub: LiveHub, apollo: Project, encoding: str) -> None:
    token = create_token(project=apollo).secret
    client = hub.mcp(token, **{"Ctxhub-Session": "Abend é".encode(encoding).decode("latin-1")})
    assert session_of(client) == "Abend é"


def test_a_window_names_itself_where_its_client_does_not(hub: LiveHub, ada_token: str) -> None:
    client = hub.mcp(ada_token, **{"Ctxhub-Made-Up-Session": "mcp-1a2b3c4d"})
    assert '"session":"","argument":null,"has_window":true' in told(client)
    assert session_of(client, {"ctxhub/session": "meta"}) == "meta"
    assert session_of(client, session="argument") == "argument"
    client.headers["Ctxhub-Session"] = "claude-1a2b"
    assert '"session":"claude-1a2b","argument":null,"has_window":false' in told(client)


@pytest.mark.parametrize("named", ["5", "latest", "${SESSION}", CREDENTIAL, "x-" * 51])
def test_a_bad_name_of_a_window_is_refused(hub: LiveHub, ada_token: str, named: str) -> None:
    reply = hub.mcp(ada_token).send("POST", "/mcp", {}, {"Ctxhub-Made-Up-Session": named})
    assert reply.status == 400
    assert "Ctxhub-Made-Up-Session" in reply.body["error"]["message"]


# -- stdio -----------------------------------------------------------------------------------------


def test_a_process_on_stdio_is_a_window_and_may_name_its_session(
    apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = find_caller("apollo", "ada", "", find_session_name(" evening "))
    assert (caller.session, caller.window and caller.window.sessions) == ("evening", {})
    monkeypatch.setenv("CTXHUB_SESSION", "morning")
    assert [find_session_name(""), find_session_name("evening")] == ["morning", "evening"]
    monkeypatch.setenv("CTXHUB_SESSION", " ")
    unnamed = [find_caller("apollo", "ada", "", find_session_name("")) for _ in range(2)]
    assert [one.session for one in unnamed] == ["", ""]
    assert unnamed[0].window is not unnamed[1].window


@pytest.mark.django_db(transaction=True)
def test_a_call_on_stdio_names_another_session(apollo: Project, tmp_path: Path) -> None:
    caller = find_caller("apollo", "ada", "", "evening")

    looks = [
        request("tools/call", {"name": "probe", "arguments": {"action": "look"}, **meta})
        for meta in ({}, {"_meta": {"ctxhub/session": "meta"}})
    ]
    _, *answers = answered(caller, map(json.dumps, [hello(), *looks]), tmp_path)
    first, second = (answer["result"]["content"][0]["text"] for answer in answers)
    assert first == '{"session":"evening","argument":null,"has_window":true}'
    assert '"session":"meta"' in second


@pytest.mark.parametrize("named", ["${SESSION}", CREDENTIAL, "x" * 101])
def test_a_bad_session_of_a_process_is_refused(
    apollo: Project, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError, match="--session"):
        call_command("runmcp", "--session", named)
    monkeypatch.setenv("CTXHUB_SESSION", named)
    with pytest.raises(CommandError, match="CTXHUB_SESSION"):
        call_command("runmcp")


def test_over_http_a_process_has_no_session(apollo: Project) -> None:
    with pytest.raises(CommandError, match="Ctxhub-Session"):
        call_command("runmcp", "--http", "--session", "evening")
