"""The stdio transport: an MCP server for one agent.

On POSIX pipes it reads lines without a thread, on anything else in one thread per line.
"""

import asyncio
import json
import os
import signal
import stat
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from types import FrameType
from typing import IO, Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ctxhub.core.kit.background import flush_all
from ctxhub.mcp.json_rpc import END_BYTES, NO_MESSAGE, find_request_id

LINE_BYTES = 64 * 1024 * 1024
SECONDS_TO_ANSWER = 10
SECONDS_TO_FLUSH = 3


class LineTooLong(Exception):
    """A line exceeds LINE_BYTES and was skipped to its end; `head` is its beginning."""

    def __init__(self, head: bytes) -> None:
        super().__init__()
        self.head = head


def serve_stdio(server: Server[Any]) -> None:
    """Serve until the client closes its end of the pipe."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)
    anyio.run(_serve, server, backend_options={"use_uvloop": find_spec("uvloop") is not None})


def _end(signal_number: int, _: FrameType | None) -> None:
    """Write what waits, then end by the signal. In a thread: the event loop's may not use the database."""
    signal.signal(signal_number, signal.SIG_DFL)
    flushing = threading.Thread(target=flush_all, daemon=True)
    flushing.start()
    flushing.join(SECONDS_TO_FLUSH)
    os.kill(os.getpid(), signal_number)


async def _serve(server: Server[Any]) -> None:
    async with _streams() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


@asynccontextmanager
async def _streams() -> AsyncIterator[Any]:  # noqa: C901
    source, sink = os.dup(0), os.dup(1)
    # From here on fd 1 is stderr: a stray print cannot break the protocol.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    next_line, write_line = await _reader(source), await _writer(sink)

    incoming, received = create_context_streams[SessionMessage | Exception](0)
    to_send, outgoing = create_context_streams[SessionMessage](0)
    unanswered: set[Any] = set()

    async def read() -> None:
        async with incoming:
            while True:
                try:
                    line = await next_line()
                except LineTooLong as error:
                    await write_line(_refusal(error.head, f"A line has at most {LINE_BYTES:,} bytes."))
                    continue
                if not line:
                    break
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValidationError as error:
                    if line.strip():
                        await write_line(_refusal(line, _reason(error)))
                    continue
                if isinstance(message, types.JSONRPCRequest) and message.method != "subscriptions/listen":
                    unanswered.add(message.id)
                elif isinstance(message, types.JSONRPCNotification):
                    unanswered.discard(_cancelled_id(message))
                await incoming.send(SessionMessage(message))
            # A script that pipes its calls in closes its end at once, and still gets the answers.
            with anyio.move_on_after(SECONDS_TO_ANSWER):
                while unanswered:  # noqa: ASYNC110
                    await anyio.sleep(0.01)

    async def write() -> None:
        async with outgoing:
            async for sent in outgoing:
                await write_line(sent.message.model_dump_json(by_alias=True, exclude_unset=True))
                unanswered.discard(getattr(sent.message, "id", None))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield received, to_send


async def _reader(fd: int) -> Callable[[], Awaitable[bytes]]:
    """Return a function that reads the next line, b"" at the end of input. It raises LineTooLong."""
    if not _is_watchable(fd):
        file = os.fdopen(fd, "rb")
        return lambda: to_thread.run_sync(_read_line_of_file, file, abandon_on_cancel=True)
    lines = asyncio.StreamReader(limit=LINE_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(fd, "rb", 0))
    return lambda: _read_line_of_pipe(lines)


def _read_line_of_file(file: IO[bytes]) -> bytes:
    line = file.readline(LINE_BYTES)
    if len(line) < LINE_BYTES or line.endswith(b"\n"):
        return line
    rest = line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(LINE_BYTES)
    raise LineTooLong(line[:END_BYTES])


async def _read_line_of_pipe(lines: asyncio.StreamReader) -> bytes:
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
    async def write_to_file(line: str) -> None:
        file.write(line.encode() + b"\n")
        file.flush()

    async def write_to_pipe(line: str) -> None:
        out.write(line.encode() + b"\n")
        await out.drain()

    if not _is_watchable(fd):
        file = os.fdopen(fd, "wb")
        return write_to_file
    loop = asyncio.get_running_loop()
    pipe, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(fd, "wb", 0))
    out = asyncio.StreamWriter(pipe, protocol, None, loop)
    return write_to_pipe


def _is_watchable(fd: int) -> bool:
    """Whether an event loop can watch the descriptor: pipes and sockets, never files, nothing on Windows."""
    mode = os.fstat(fd).st_mode
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _cancelled_id(message: types.JSONRPCNotification) -> int | str | None:
    """The id of the request that the notification cancels; None for any other notification."""
    request_id = (message.params or {}).get("requestId")
    is_id = message.method == "notifications/cancelled" and type(request_id) in (int, str)
    return request_id if is_id else None


def _reason(error: ValidationError) -> str | None:
    """Why the line is not valid JSON; None if it is JSON but not a message."""
    [first, *_] = error.errors(include_url=False, include_input=False)
    return first["msg"] if first["type"] == "json_invalid" else None


def _refusal(line: bytes, reason: str | None) -> str:
    """The error for a line that is not a message, with its id if one can be read: the client may wait."""
    code, message = (types.PARSE_ERROR, reason) if reason else (types.INVALID_REQUEST, NO_MESSAGE)
    return json.dumps(
        {"jsonrpc": "2.0", "id": find_request_id(line), "error": {"code": code, "message": message}}
    )
