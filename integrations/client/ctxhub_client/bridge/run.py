"""Reads what the client asks, has the hub answer it, several requests at once, and writes the answers."""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
import time

from ctxhub_client.bridge.connections import Answer, Connections, Exchange, Lost, NotReached, NotTrusted
from ctxhub_client.bridge.lines import MOST_LINE_BYTES, LineTooLong, Pipes
from ctxhub_client.bridge.messages import CALL, PARSE_ERROR, Message, compact, refusal
from ctxhub_client.bridge.place import Place, in_header
from ctxhub_client.process import log
from ctxhub_client.sessions import session_name
from ctxhub_client.settings import access_token, address_problem, agent_name, hub_address, stored_token
from ctxhub_client.version import user_agent
from ctxhub_client.windows.joining import Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ctxhub_client.values import Json

MOST_AT_ONCE = 8
# How long a hub that restarts is waited for. While it is away no further call waits.
PATIENCE_SECONDS = 8.0
BETWEEN_TRIES_SECONDS = 0.25
AWAY_SECONDS = 30.0
# After the client has closed its end.
SECONDS_TO_ANSWER = 10.0

UNCONFIGURED = (
    "CTXHUB_TOKEN is not set where this server was started: set it to a token of the hub, and restart."
)


class Request:
    def __init__(self, message: Message) -> None:
        self.message = message
        self.exchange = Exchange()


class Bridge:
    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._url = hub_address()
        self._problem = address_problem(self._url) or ("" if access_token() else UNCONFIGURED)
        self._connections = None if self._problem else Connections(self._url)
        self._window = Window(own_session())
        self._place = Place()
        self._version = self._client = ""
        self._away_since = -AWAY_SECONDS
        self._waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._requests: list[Request] = []
        self._changed = threading.Condition()
        self._workers = 0

    def serve(self) -> None:
        """Until the client closes its end, and what it asked before is answered."""
        if stored_token() is not None:
            threading.Thread(target=renew_stored, daemon=True).start()
        for line in self._pipes.lines():
            if isinstance(line, LineTooLong):
                reason = "A line has at most {:,} bytes.".format(MOST_LINE_BYTES)
                self._pipes.write(refusal(None, reason, PARSE_ERROR))
            else:
                self._take(line)
        with self._changed:
            self._changed.wait_for(lambda: not self._requests, SECONDS_TO_ANSWER)
        self._window.close()

    def _take(self, line: bytes) -> None:
        try:
            message = Message(line)
        except ValueError as error:
            self._pipes.write(refusal(None, "Invalid JSON: {}".format(error), PARSE_ERROR))
            return
        cancelled = message.cancels
        if cancelled is not None:
            self._cancel(cancelled)
        self._client = message.client or self._client
        if message.expects_answer:
            self._start(Request(message))
        # Notifications say nothing that the hub, which keeps no state of a connection, would do.

    def _start(self, request: Request) -> None:
        with self._changed:
            self._requests.append(request)
            needs_worker = self._workers < min(MOST_AT_ONCE, len(self._requests))
            self._workers += needs_worker
        self._waiting.put(request)
        if needs_worker:
            threading.Thread(target=self._work, daemon=True).start()

    def _cancel(self, request_id: Any) -> None:
        with self._changed:
            found = [each for each in self._requests if each.message.id == request_id]
        for request in found:
            request.exchange.give_up()

    # -- In a thread -------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            request = self._waiting.get()
            try:
                self._answer(request)
            except OSError:
                os._exit(0)  # Nobody reads any more.
            except Exception as error:
                log("failed:", type(error).__name__, error)
                self._write(request, refusal(request.message, "The bridge failed: {!r}".format(error)))
            finally:
                with self._changed:
                    self._requests.remove(request)
                    self._changed.notify_all()

    def _write(self, request: Request, answer: bytes) -> None:
        if not request.exchange.is_given_up:
            self._pipes.write(answer)

    def _answer(self, request: Request) -> None:
        if self._connections is None:
            self._write(request, refusal(request.message, self._problem))
            return
        try:
            answer = self._sent(self._connections, request)
            if answer.messages is not None:
                self._pass_stream(request, answer)
            else:
                self._write(request, self._content(request.message, answer))
        except NotReached as error:
            self._write(request, refusal(request.message, self._not_reached(error)))
        except Lost as error:
            log("lost:", error)
            self._write(request, refusal(request.message, self._lost(request.message, error)))

    def _sent(self, connections: Connections, request: Request) -> Answer:
        """Again while nothing could be sent; what may be repeated once more. Raises NotReached and Lost."""
        began = time.monotonic()
        patience = PATIENCE_SECONDS if began - self._away_since > AWAY_SECONDS else 0.0
        lost: Lost | None = None
        headers = self._headers(request)  # Once: a hook's word on a call is taken away.
        while True:
            try:
                answer = connections.send(request.exchange, request.message.line, headers)
                self._away_since = -AWAY_SECONDS
                return answer
            except NotReached as error:
                is_over = isinstance(error, NotTrusted) or time.monotonic() - began >= patience
                if is_over or request.exchange.is_given_up:
                    self._away_since = time.monotonic()
                    if lost is not None:
                        raise lost from None  # What was sent before may have been done.
                    raise
                time.sleep(BETWEEN_TRIES_SECONDS)
            except Lost as error:
                if lost is not None or not request.message.may_be_repeated or request.exchange.is_given_up:
                    raise
                lost = error

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {
            "Authorization": "Bearer " + access_token(),
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "User-Agent": user_agent(),
        }
        if agent_name():
            headers["Ctxhub-Agent"] = in_header(agent_name())
        elif self._client:
            headers["Ctxhub-Client"] = self._client
        session = request.message.session or self._window.session(request.message.tool_use)
        is_made_up = self._window.is_made_up(session)
        headers["Ctxhub-Made-Up-Session" if is_made_up else "Ctxhub-Session"] = in_header(session)
        if request.message.method == CALL:
            headers.update(self._place.headers())
        if self._version and request.message.method != "initialize":
            headers["Mcp-Protocol-Version"] = self._version
        headers.update(request.message.headers())
        return headers

    # -- Answers -----------------------------------------------------------------------------------

    def _content(self, message: Message, answer: Answer) -> bytes:
        """The answer as a line. What is no message of MCP, such as a proxy's page, is told."""
        try:
            value = json.loads(answer.content.decode())
        except (ValueError, RecursionError):
            value = None
        if not _is_message(value):
            return refusal(message, _no_message(self._url, answer, value))
        if isinstance(value, dict):
            self._note_version(message, value)
            error = value.get("error")
            if value.get("id") is None and message.id is not None and isinstance(error, dict):
                # Refused before the hub had read the request.
                return refusal(message, str(error.get("message")))
        return answer.content if b"\n" not in answer.content else compact(value)

    def _note_version(self, message: Message, value: Json) -> None:
        result = value.get("result")
        if message.method == "initialize" and isinstance(result, dict):
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) else ""

    def _pass_stream(self, request: Request, answer: Answer) -> None:
        """Each message of a stream; the last one is the answer. Raises Lost if it does not come."""
        is_answered = False
        for data in answer.messages or ():
            try:
                value = json.loads(data.decode())
            except (ValueError, RecursionError):
                continue
            if not _is_message(value):
                continue
            if isinstance(value, dict) and "method" not in value:
                is_answered = True
                self._note_version(request.message, value)
            self._write(request, data if b"\n" not in data else compact(value))
        if not is_answered:
            raise Lost("the stream ended without an answer")

    def _not_reached(self, error: NotReached) -> str:
        return (
            "The hub at {} cannot be reached ({}): nothing was done. Go on without it, and try later.".format(
                self._url, error
            )
        )

    def _lost(self, message: Message, error: Lost) -> str:
        done = "It may have been done: look before you repeat it." if message.method == CALL else "Try again."
        return "The hub at {} did not answer ({}). {}".format(self._url, error, done)


def renew_stored() -> None:
    from ctxhub_client.access import renewing

    renewing.renew_stored()


def own_session() -> str:
    """What the client tells of it where it starts a server; "" if it tells nothing."""
    named = os.environ.get("CTXHUB_SESSION", "").strip()
    return named or session_name("claude", os.environ.get("CLAUDE_CODE_SESSION_ID", ""))


def _is_message(value: object) -> bool:
    if isinstance(value, list):
        return all(_is_message(each) for each in value)
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0"


def _no_message(url: str, answer: Answer, value: object) -> str:
    said = value.get("message") if isinstance(value, dict) else None
    told = ": {}".format(said) if isinstance(said, str) else ""
    if answer.status in (502, 503, 504):
        told += ". The hub behind it may be restarting; a write may have been done: look before you repeat it"
    elif answer.status == 404:
        told += ". CTXHUB_URL has to be the address of a ctxhub server"
    return "At {} the answer was HTTP {} ({}), no MCP message{}.".format(
        url, answer.status, answer.media_type or "without a type", told
    )


def run_bridge() -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Of the terminal in which the client runs.
    try:
        Bridge(Pipes()).serve()
    except OSError as error:
        log("the client is gone:", error)
    os._exit(0)
