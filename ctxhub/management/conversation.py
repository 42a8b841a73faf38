"""Agents over real MCP connections, and a transcript of what each called and was answered."""

import json
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from ctxhub.management.ready_lines import stdio_command
from ctxhub.management.scenarios.decision import share_a_decision
from ctxhub.management.scenarios.knowledge import keep_what_was_learned
from ctxhub.management.scenarios.transcript import Answer, Unexpected
from ctxhub.management.scenarios.work import work_side_by_side
from ctxhub.management.temporary_server import TemporaryServer

WIDTH = 100
SECONDS_TO_ANSWER = 60.0  # Some calls wait for news.


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent on its own connection. `tell` prints the transcript."""

    name: str
    client: Client
    tell: Callable[[str], None]

    async def call(self, tool: str, action: str = "", **arguments: Any) -> Answer:
        """Call a tool; raises Unexpected if it answers with an error."""
        answer, is_error = await self._call(tool, action, arguments)
        if is_error:
            raise Unexpected(f"{tool} {action} was refused: {answer}")
        return answer

    async def refused(self, tool: str, action: str, **arguments: Any) -> Answer:
        """Call a tool that has to answer with an error."""
        answer, is_error = await self._call(tool, action, arguments)
        if not is_error:
            raise Unexpected(f"{tool} {action} was not refused: {answer}")
        return answer

    async def _call(self, tool: str, action: str, arguments: Answer) -> tuple[Answer, bool]:
        call = f"{tool} {action}".strip()
        self.tell(_wrapped(f"  {self.name} > {call} {_said(arguments)}"))
        result = await self.client.call_tool(tool, {"action": action, **arguments} if action else arguments)
        [block] = result.content
        assert isinstance(block, TextContent)
        answer: Answer = json.loads(block.text)
        mark = "!" if result.is_error else "<"
        self.tell(_wrapped(f"  {mark:>{len(self.name) + 2}} {_spaced(answer)}"))
        return answer, bool(result.is_error)


async def converse(hub: TemporaryServer, tell: Callable[[str], None]) -> None:
    async with _over_stdio(hub, "ada", tell) as ada:
        url = await anyio.to_thread.run_sync(hub.url)
        async with _over_http(url, hub.token, "ben", tell) as ben:
            await share_a_decision(ada, ben, tell)
            async with _over_http(url, hub.token, "eve", tell) as eve:
                await work_side_by_side(ada, ben, eve, tell)
                await keep_what_was_learned(ada, ben, eve, tell)


@asynccontextmanager
async def _over_stdio(hub: TemporaryServer, name: str, tell: Callable[[str], None]) -> AsyncIterator[Agent]:
    """In a process that the agent's client starts."""
    command, *rest = stdio_command(hub.project, name)
    program = StdioServerParameters(command=command, args=rest, env=dict(hub.environment))
    async with Client(program) as client:
        yield Agent(name, client, tell)


@asynccontextmanager
async def _over_http(url: str, token: str, name: str, tell: Callable[[str], None]) -> AsyncIterator[Agent]:
    """With a token, to the hub that serves everybody."""
    headers = {"Authorization": f"Bearer {token}", "Ctxhub-Agent": name}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS_TO_ANSWER) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield Agent(name, client, tell)


def _said(arguments: Answer) -> str:
    return " ".join(f"{name}={_spaced(value)}" for name, value in arguments.items())


def _spaced(value: Any) -> str:
    """Agents are sent compact JSON; people read it with spaces."""
    return json.dumps(value, ensure_ascii=False)


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent=" " * 8, break_on_hyphens=False, drop_whitespace=True)
