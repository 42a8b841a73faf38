"""The client of the official SDK, in both eras of the protocol, over HTTP and over stdio."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import ResourceTemplateReference, TextResourceContents

from ctxhub.core.models import Project
from tests.hub import LiveHub
from tests.stdio import command, environment

pytestmark = pytest.mark.one_engine

VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
Session = Callable[[Client], Awaitable[None]]


async def work(client: Client) -> None:
    """What an agent does: list the tools, store a decision, read it back, and get an error."""
    assert {tool.name for tool in (await client.list_tools()).tools} >= {"decision", "get", "hub"}
    assert (await call_tool(client, "decision", action="set", key="k", value="JWT"))["result"] == "created"
    assert (await call_tool(client, "get", refs=["decision:k"]))["items"][0]["value"] == "JWT"
    refused = await client.call_tool("decision", {"action": "set", "key": "k"})
    assert refused.is_error
    await look_around(client)


async def look_around(client: Client) -> None:
    """Besides tools: resources, prompts and completion."""
    uris = [str(each.uri) for each in (await client.list_resources()).resources]
    assert uris[:2] == ["ctxhub://brief", "ctxhub://layers"]
    for uri in [*uris, "ctxhub://decision/k"]:
        [content] = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text)
    templates = (await client.list_resource_templates()).resource_templates
    keys = ResourceTemplateReference(type="ref/resource", uri=templates[0].uri_template)
    found = await client.complete(keys, {"name": "key", "value": "k"})
    assert found.completion.values == ["k"]
    for prompt in (await client.list_prompts()).prompts:
        assert (await client.get_prompt(prompt.name)).messages
    with pytest.raises(MCPError, match=r"There is no decision 'nothing'\."):
        await client.read_resource("ctxhub://decision/nothing")
    with pytest.raises(MCPError, match=r"Did you mean 'task'\?"):
        await client.get_prompt("start", {"tsak": "x"})


async def call_tool(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    [block] = result.content
    assert block.type == "text"
    answer: dict[str, Any] = json.loads(block.text)
    return answer


@pytest.mark.parametrize("mode", VERSIONS)
def test_the_client_works_over_http(hub: LiveHub, ada_token: str, mode: Any) -> None:
    async def session() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {ada_token}"}) as http,
            Client(streamable_http_client(f"{hub.url}/mcp", http_client=http), mode=mode) as client,
        ):
            assert client.protocol_version == VERSIONS[mode]
            await work(client)

    anyio.run(session)


def cause(error: Exception) -> Exception:
    """The first error inside the exception groups of a client's tasks."""
    return cause(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


@pytest.mark.parametrize("mode", VERSIONS)
@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ({}, "This hub needs a token. Send the header Authorization: Bearer TOKEN"),
        (
            {"Authorization": "Bearer ctx_old"},
            "The token is not known here. Make one: manage.py token create",
        ),
        ({"Authorization": "Bearer ${TOKEN}"}, "The token is the literal text ${TOKEN}: your client did not"),
        (
            {"Origin": "https://evil.example"},
            "The origin 'https://evil.example' is not allowed. Add its host",
        ),
        (
            {"Host": "evil.example"},
            "The host 'evil.example' is not served here. Add it to CTXHUB_ALLOWED_HOSTS.",
        ),
    ],
)
def test_a_refused_client_gets_the_reason(
    hub: LiveHub, mode: Any, headers: dict[str, str], sentence: str
) -> None:
    async def session() -> None:
        async with create_mcp_http_client(headers=headers) as http:
            with pytest.raises(ExceptionGroup) as group:
                async with Client(streamable_http_client(f"{hub.url}/mcp", http_client=http), mode=mode):
                    pass
        refused = cause(group.value)
        assert isinstance(refused, MCPError)
        assert str(refused).startswith(sentence)
        assert refused.data["error"] == "not_allowed"

    anyio.run(session)


@pytest.mark.parametrize("mode", VERSIONS)
def test_a_client_that_sends_too_much_gets_the_limit(hub: LiveHub, ada_token: str, mode: Any) -> None:
    async def session() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {ada_token}"}) as http,
            Client(streamable_http_client(f"{hub.url}/mcp", http_client=http), mode=mode) as client,
        ):
            with pytest.raises(MCPError, match=r"The body has more than 5,308,416 bytes\."):
                await call_tool(client, "decision", action="set", key="k", value="x" * 6_000_000)

    anyio.run(session)


@pytest.mark.parametrize("mode", VERSIONS)
def test_the_client_works_over_stdio(transactional_db: None, apollo: Project, mode: Any) -> None:
    program, *arguments = command("--project", "apollo")
    server = StdioServerParameters(command=program, args=arguments, env=environment())

    async def session() -> None:
        async with Client(server, mode=mode) as client:
            assert client.protocol_version == VERSIONS[mode]
            await work(client)

    anyio.run(session)


def test_structured_answers_pass_the_validation_of_the_client(
    transactional_db: None, apollo: Project
) -> None:
    """The client checks structured answers against the output schema, and raises where one fails."""
    program, *arguments = command("--project", "apollo", "--surface", "flat")
    server = StdioServerParameters(command=program, args=arguments, env=environment())

    async def session() -> None:
        async with Client(server) as client:
            await client.list_tools()
            for tool, given in FLAT_CALLS:
                result = await client.call_tool(tool, given)
                assert not result.is_error, (tool, result)
                [block] = result.content
                assert block.type == "text"
                assert result.structured_content == json.loads(block.text)

    anyio.run(session)


FLAT_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("decision_set", {"key": "a", "value": 5}),
    ("decision_set", {"key": "a", "value": "five"}),
    ("decision_set_batch", {"items": [{"key": "b", "value": 1}, {"key": ""}], "atomic": False}),
    ("decision_quick_set", {"key": "api/x", "value": 1.5}),
    ("decision_get", {"key": "a", "include": ["rationale", "history", "links"]}),
    ("decision_get", {"key": "nothing"}),
    ("decision_list", {}),
    ("decision_list", {"tags": ["nothing"]}),
    ("decision_list", {"format": "objects", "limit": 1}),
    ("decision_list", {"max_tokens": 30}),
    ("decision_versions", {"key": "a"}),
    ("decision_deprecate", {"key": "a"}),
    ("decision_set", {"key": "a", "value": "six"}),
    ("delete", {"refs": ["decision:b"]}),
    ("get", {"refs": ["decision:a", "decision:nothing"]}),
    ("hub_stats", {}),
    ("hub_activity", {"limit": 1}),
    ("hub_updates", {"since": "e0"}),
    ("hub_agents", {}),
    ("hub_vocabulary", {}),
]
