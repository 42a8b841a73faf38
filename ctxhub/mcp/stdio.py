"""The stdio transport: an MCP server for one agent.

Calls run in the thread that reads them, one after the other; only those that wait for events do so beside.
"""

import os
import signal
import stat
import threading
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from types import FrameType
from typing import Any, TypeVar

from pydantic_core import to_json

from ctxhub.core.accounts.projects import find_again
from ctxhub.core.events.waiting import LongPoll
from ctxhub.core.kit.background import flush_all
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.newer_schema import look_if_due
from ctxhub.core.kit.replaced_file import Replaced, leave_replaced, switches
from ctxhub.mcp import params
from ctxhub.mcp.db_threads import checked_connections
from ctxhub.mcp.eras import Negotiation, check_batch
from ctxhub.mcp.json_rpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    PARSE_ERROR,
    Id,
    Message,
    RpcError,
    as_id,
    as_message,
    decoded,
    error_response,
    find_request_id,
    id_in,
    read_message,
    response,
)
from ctxhub.mcp.lines import LINE_BYTES, LineReader, LineTooLong, LineWriter, one_line
from ctxhub.mcp.methods import answer
from ctxhub.mcp.pipe_subscriptions import PipeSubscriptions
from ctxhub.mcp.progress import telling
from ctxhub.mcp.requests import Request, Result, Surface, Work
from ctxhub.mcp.subscriptions import Listening
from ctxhub.mcp.waiting_calls import WaitingCall, WaitingCalls

SECONDS_TO_ANSWER = 10
SECONDS_TO_FLUSH = 3

CANCELLED = "notifications/cancelled"

OfCaller = TypeVar("OfCaller", Work, Listening)


def serve_stdio(caller: Caller, surface: Surface) -> None:
    """Serve until the client closes its end of the pipe."""
    source, sink = _take_descriptors()
    server = StdioServer(source, sink, caller, surface)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, server.end)
    server.serve()


def _take_descriptors() -> tuple[int, int]:
    """Copies of stdin and stdout. From here on fd 1 is stderr: a stray print cannot break the protocol."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


class StdioServer:
    """One connection: reads requests from a file descriptor and writes the answers to another."""

    def __init__(self, source: int, sink: int, caller: Caller, surface: Surface) -> None:
        self._caller, self._found_on = caller, switches()
        self._surface = surface
        self._negotiation = Negotiation()
        self._waiting = WaitingCalls(lambda request_id, result: self._write(response(request_id, result)))
        self._lines = LineReader(source, self._look_ahead)
        self._subscriptions = PipeSubscriptions(self._write)
        # A client may send many requests before it reads: what it sends has to go on being read.
        self._out = LineWriter(sink, self._lines.read_ahead, blocking=_blocks(source, sink))
        self._at_work = threading.Lock()

    def serve(self) -> None:
        try:
            while line := self._next_line():
                with self._at_work:
                    self._take(line)
            for request_id in self._waiting.finish(SECONDS_TO_ANSWER):
                self._refuse(request_id, RpcError(CONNECTION_CLOSED, "Connection closed"))
        except BrokenPipeError:
            pass  # The client is gone.

    def end(self, signal_number: int, _: FrameType | None) -> None:
        """Finish the call at work and write what waits, then end by the signal."""
        signal.signal(signal_number, signal.SIG_DFL)
        threading.Thread(target=self._end, args=[signal_number], daemon=True).start()

    def _end(self, signal_number: int) -> None:
        flushing = threading.Thread(target=self._flush, daemon=True)
        flushing.start()
        flushing.join(SECONDS_TO_FLUSH)
        os.kill(os.getpid(), signal_number)

    def _flush(self) -> None:
        with self._at_work:
            flush_all()

    # -- Lines -------------------------------------------------------------------------------------

    def _next_line(self) -> bytes:
        while True:
            try:
                return self._lines.next_line(ahead=bool(self._waiting))
            except LineTooLong as error:
                reason = RpcError(PARSE_ERROR, f"A line has at most {LINE_BYTES:,} bytes.")
                self._refuse(find_request_id(error.head), reason)

    def _take(self, line: bytes) -> None:
        try:
            value = decoded(line)
            if isinstance(value, list):
                check_batch(value, self._negotiation.version)
        except RpcError as error:
            if line.strip():
                self._refuse(find_request_id(line), error)
            return
        answer = self._answer_batch(value) if isinstance(value, list) else self._answer(value)
        if answer:
            self._write(answer)

    def _look_ahead(self, line: bytes) -> None:
        """A cancellation does not wait for the calls before it."""
        if CANCELLED.encode() not in line:
            return
        try:
            message = read_message(line)
        except RpcError:
            return
        if message and message.method == CANCELLED:
            self._notice(message)

    def _write(self, message: dict[str, Any] | list[dict[str, Any]]) -> None:
        self._out.write(one_line(to_json(message, inf_nan_mode="null")))

    def _tell(self, notification: dict[str, Any]) -> None:
        """Send what does not have to arrive: a call goes on although its client is gone."""
        with suppress(BrokenPipeError):
            self._write(notification)

    def _refuse(self, request_id: Id | None, error: RpcError) -> None:
        self._write(error_response(request_id, error.body()))

    # -- Messages ----------------------------------------------------------------------------------

    def _notice(self, notification: Message) -> None:
        given = notification.params or {}
        if notification.method == "notifications/initialized" and params.NOTE(given):
            self._negotiation.begin()
        elif notification.method == CANCELLED and (request_id := as_id(given.get("requestId"))) is not None:
            self._waiting.cancel(request_id)
            self._subscriptions.cancel(request_id)

    def _answer_batch(self, batch: list[Any]) -> list[dict[str, Any]]:
        return [answered for value in batch if (answered := self._answer(value, waits=False))]

    def _answer(self, value: Any, *, waits: bool = True) -> dict[str, Any] | None:
        """The answer to a message; None if it has none, or, with `waits`, if it comes after an event."""
        try:
            message = as_message(value)
        except RpcError as error:
            return error_response(id_in(value), error.body())
        if message is None:
            return None
        if message.id is None:
            self._notice(message)
            return None
        return self._answer_request(message.id, message.method, message.params or {}, waits=waits)

    def _answer_request(
        self, request_id: Id, method: str, given: dict[str, Any], *, waits: bool
    ) -> dict[str, Any] | None:
        try:
            version = self._negotiation.version_of(method, given)
            is_open = self._negotiation.is_open
            request = Request(method, given, version, self._caller, self._surface, is_open, id=request_id)
            result = answer(request)
            if isinstance(result, Listening):
                self._listen(result, request)
                return None
            if method == "initialize" and not isinstance(result, Work):
                self._negotiation.begin(result["protocolVersion"])
            done = self._run(request_id, request, result, waits=waits) if isinstance(result, Work) else result
        except RpcError as error:
            return error_response(request_id, error.body())
        except Exception as error:
            log_failure(method, error)
            internal = RpcError(INTERNAL_ERROR, "Internal server error")
            return error_response(request_id, internal.body())
        return None if done is None else response(request_id, done)

    def _listen(self, listening: Listening, request: Request) -> None:
        """Its answer ends it."""
        with checked_connections():
            look_if_due()
            self._subscriptions.open(self._of_this_database(request, listening))

    def _run(self, request_id: Id, request: Request, work: Work, *, waits: bool) -> Result | None:
        """The result; None if the call has to wait for it, as far as it `waits`."""
        long_poll, started = LongPoll(), monotonic()
        try:
            with long_poll.at_work(), checked_connections(), telling(request, self._tell):
                look_if_due()
                work = self._of_this_database(request, work)
                try:
                    result = work.run()
                except Replaced:  # What it wrote, if anything, is in the one that was replaced.
                    leave_replaced()
                    result = self._of_this_database(request, work).run()
        except Exception as error:
            return work.failed(error)
        if long_poll.wanted is None or not waits:
            return result
        self._waiting.add(WaitingCall(request_id, work, result, long_poll, started))
        self._lines.read_ahead()
        return None

    def _of_this_database(self, request: Request, found: OfCaller) -> OfCaller:
        """What answers the caller's request; found again, once the database is another one."""
        if (found_on := switches()) == self._found_on:
            return found
        self._caller, self._found_on = find_again(self._caller), found_on
        again = answer(replace(request, caller=self._caller))
        assert isinstance(again, type(found))
        return again


def _blocks(source: int, sink: int) -> bool:
    """Whether writing has to block: what is no pipe, and what could no longer be read otherwise."""
    if os.name != "posix":
        return True
    mode = os.fstat(sink).st_mode
    is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return not is_pipe or os.path.sameopenfile(source, sink)
