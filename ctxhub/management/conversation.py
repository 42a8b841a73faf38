"""Runs the demo scenarios over real MCP connections and prints a transcript of calls and answers."""

import json
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from ctxhub.core.kit.frozen import frozen
from ctxhub.management.ready_lines import stdio_command
from ctxhub.management.scenarios.decision import share_a_decision
from ctxhub.management.scenarios.knowledge import share_a_lesson
from ctxhub.management.scenarios.start import start_with_a_brief
from ctxhub.management.scenarios.transcript import Answer, Unexpected
from ctxhub.management.scenarios.window import lose_a_window
from ctxhub.management.scenarios.work import work_side_by_side
from ctxhub.management.temporary_server import TemporaryServer

WIDTH = 100
SECONDS_TO_ANSWER = 60.0  # Some calls wait for news.


@frozen
class Agent:
    """An agent on its own connection. `write` prints the transcript."""

    name: str
    client: Client
    write: Callable[[str], None]

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
        self.write(_wrapped(f"  {self.name} > {call} {_format_arguments(arguments)}"))
        result = await self.client.call_tool(tool, {"action": action, **arguments} if action else arguments)
        [block] = result.content
        assert isinstance(block, TextContent)
        answer: Answer = json.loads(block.text)
        mark = "!" if result.is_error else "<"
        self.write(_wrapped(f"  {mark:>{len(self.name) + 2}} {_format_json(answer)}"))
        return answer, bool(result.is_error)


async def converse(hub: TemporaryServer, write: Callable[[str], None]) -> None:
    async with _over_stdio(hub, "ada", write) as ada:
        url = await anyio.to_thread.run_sync(hub.url)
        async with _over_http(url, hub.token, "ben", write) as ben:
            await share_a_decision(ada, ben, write)
            async with _over_http(url, hub.token, "eve", write) as eve:
                await work_side_by_side(ada, ben, eve, write)
                await share_a_lesson(ada, ben, eve, write)
            await lose_a_window(lambda: _over_stdio(hub, "ada", write), ben, write)
            await start_with_a_brief(ada, ben, write)


@asynccontextmanager
async def _over_stdio(hub: TemporaryServer, name: str, write: Callable[[str], None]) -> AsyncIterator[Agent]:
    """Connect to a server process that the agent's client starts."""
    command, *rest = stdio_command(hub.project, name)
    program = StdioServerParameters(command=command, args=rest, env=dict(hub.environment))
    async with Client(program) as client:
        yield Agent(name, client, write)


@asynccontextmanager
async def _over_http(url: str, token: str, name: str, write: Callable[[str], None]) -> AsyncIterator[Agent]:
    """Connect with a token to the shared hub."""
    headers = {"Authorization": f"Bearer {token}", "Ctxhub-Agent": name}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS_TO_ANSWER) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield Agent(name, client, write)


def _format_arguments(arguments: Answer) -> str:
    return " ".join(f"{name}={_format_json(value)}" for name, value in arguments.items())


def _format_json(value: Any) -> str:
    """JSON with spaces, for people; agents get it compact."""
    return json.dumps(value, ensure_ascii=False)


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent=" " * 8, break_on_hyphens=False, drop_whitespace=True)
