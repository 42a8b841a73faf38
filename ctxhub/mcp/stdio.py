"""stdio, one agent's own server: on POSIX pipes without a thread a line, on anything else with one."""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

LINE_BYTES = 64 * 1024 * 1024
SECONDS_TO_ANSWER = 10


def serve_stdio(server: Server[Any]) -> None:
    """Serve until the client closes its end."""
    anyio.run(_serve, server, backend_options={"use_uvloop": find_spec("uvloop") is not None})


async def _serve(server: Server[Any]) -> None:
    async with _streams() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


@asynccontextmanager
async def _streams() -> AsyncIterator[Any]:
    source, sink = os.dup(0), os.dup(1)
    # From here on fd 1 is stderr: a stray print cannot break the protocol.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    next_line, say = await _reader(source), await _writer(sink)

    incoming, received = create_context_streams[SessionMessage | Exception](0)
    to_send, outgoing = create_context_streams[SessionMessage](0)
    unanswered: set[Any] = set()

    async def read() -> None:
        async with incoming:
            while line := await next_line():
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValidationError as error:
                    if line.strip():
                        await say(_refusal(line, error))
                    continue
                if isinstance(message, types.JSONRPCRequest) and message.method != "subscriptions/listen":
                    unanswered.add(message.id)
                elif isinstance(message, types.JSONRPCNotification) and message.params:
                    unanswered.discard(message.params.get("requestId"))  # notifications/cancelled
                await incoming.send(SessionMessage(message))
            # A script that pipes its calls in, and so closes its end at once, still reads the answers.
            with anyio.move_on_after(SECONDS_TO_ANSWER):
                while unanswered:
                    await anyio.sleep(0.01)

    async def write() -> None:
        async with outgoing:
            async for sent in outgoing:
                await say(sent.message.model_dump_json(by_alias=True, exclude_unset=True))
                unanswered.discard(getattr(sent.message, "id", None))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield received, to_send


async def _reader(fd: int) -> Callable[[], Awaitable[bytes]]:
    if not _is_watchable(fd):
        file = os.fdopen(fd, "rb")
        return lambda: to_thread.run_sync(file.readline, abandon_on_cancel=True)
    lines = asyncio.StreamReader(limit=LINE_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(fd, "rb", 0))
    return lines.readline


async def _writer(fd: int) -> Callable[[str], Awaitable[None]]:
    async def say_to_file(line: str) -> None:
        file.write(line.encode() + b"\n")
        file.flush()

    async def say_to_pipe(line: str) -> None:
        out.write(line.encode() + b"\n")
        await out.drain()

    if not _is_watchable(fd):
        file = os.fdopen(fd, "wb")
        return say_to_file
    loop = asyncio.get_running_loop()
    pipe, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(fd, "wb", 0))
    out = asyncio.StreamWriter(pipe, protocol, None, loop)
    return say_to_pipe


def _is_watchable(fd: int) -> bool:
    """Event loops watch pipes and sockets, but not files, and on Windows neither."""
    mode = os.fstat(fd).st_mode
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _refusal(line: bytes, error: ValidationError) -> str:
    """The answer to a line that is no message, with its id if one can be read: its sender may be waiting."""
    try:
        sent = json.loads(line)
        request_id = sent.get("id") if isinstance(sent, dict) else None
    except (ValueError, RecursionError):
        request_id = None
    [first, *_] = error.errors(include_url=False, include_input=False)
    refusal = {"code": types.INVALID_REQUEST, "message": "This is no JSON-RPC message."}
    if first["type"] == "json_invalid":
        refusal = {"code": types.PARSE_ERROR, "message": first["msg"]}
    known_id = request_id if isinstance(request_id, int | str) else None
    return json.dumps({"jsonrpc": "2.0", "id": known_id, "error": refusal})
