"""stdio, one agent's own server: on POSIX pipes without a thread a line, on anything else with one."""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import IO, Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ctxhub.mcp.json_rpc import END_BYTES, NO_MESSAGE, id_in

LINE_BYTES = 64 * 1024 * 1024
SECONDS_TO_ANSWER = 10


class LineTooLong(Exception):
    """The line is left behind, up to its end; `head` is how it began."""

    def __init__(self, head: bytes) -> None:
        super().__init__()
        self.head = head


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
            while True:
                try:
                    line = await next_line()
                except LineTooLong as error:
                    await say(_refusal(error.head, f"A line has at most {LINE_BYTES:,} bytes."))
                    continue
                if not line:
                    break
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValidationError as error:
                    if line.strip():
                        await say(_refusal(line, _reason(error)))
                    continue
                if isinstance(message, types.JSONRPCRequest) and message.method != "subscriptions/listen":
                    unanswered.add(message.id)
                elif isinstance(message, types.JSONRPCNotification):
                    unanswered.discard(_cancelled(message))
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
    """Reads the next line, b"" at the end; raises LineTooLong."""
    if not _is_watchable(fd):
        file = os.fdopen(fd, "rb")
        return lambda: to_thread.run_sync(_line_of_file, file, abandon_on_cancel=True)
    lines = asyncio.StreamReader(limit=LINE_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(fd, "rb", 0))
    return lambda: _line_of_pipe(lines)


def _line_of_file(file: IO[bytes]) -> bytes:
    line = file.readline(LINE_BYTES)
    if len(line) < LINE_BYTES or line.endswith(b"\n"):
        return line
    rest = line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(LINE_BYTES)
    raise LineTooLong(line[:END_BYTES])


async def _line_of_pipe(lines: asyncio.StreamReader) -> bytes:
    head = b""
    while True:
        try:
            line = await lines.readuntil()
        except asyncio.IncompleteReadError as end:
            line = end.partial
        except asyncio.LimitOverrunError as overrun:
            skipped = await lines.readexactly(overrun.consumed)
            head = head or skipped[:END_BYTES]
            continue
        if head:
            raise LineTooLong(head)
        return line


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


def _cancelled(message: types.JSONRPCNotification) -> int | str | None:
    """The id of the request that a client no longer waits for."""
    said = (message.params or {}).get("requestId")
    is_id = message.method == "notifications/cancelled" and type(said) in (int, str)
    return said if is_id else None


def _reason(error: ValidationError) -> str | None:
    """What the line is no JSON for; None where it is JSON, but no message."""
    [first, *_] = error.errors(include_url=False, include_input=False)
    return first["msg"] if first["type"] == "json_invalid" else None


def _refusal(line: bytes, reason: str | None) -> str:
    """The answer to a line that is no message, with its id if one can be read: its sender may be waiting."""
    code, message = (types.PARSE_ERROR, reason) if reason else (types.INVALID_REQUEST, NO_MESSAGE)
    return json.dumps({"jsonrpc": "2.0", "id": id_in(line), "error": {"code": code, "message": message}})
