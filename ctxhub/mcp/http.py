"""Serves `/mcp` and Django in one ASGI process. Checks Host, Origin and token before it reads a body."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from pydantic_core import to_json

from ctxhub.core.accounts.access_tokens import authenticate, authenticate_remembered
from ctxhub.core.call_sessions import clean_call_session, clean_made_up_session
from ctxhub.core.events.following import Opening
from ctxhub.core.kit.background import flush_all
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotAllowed, Unauthenticated, shown
from ctxhub.core.kit.failures import failure_of, log_failure
from ctxhub.core.kit.headers import (
    AGENT_HEADER,
    BRANCH_HEADER,
    CLIENT_HEADER,
    MADE_UP_SESSION_HEADER,
    SESSION_HEADER,
    WORKTREE_HEADER,
    header_text,
)
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.replaced_file import leave_replaced_if_due
from ctxhub.core.kit.served import TRACERS
from ctxhub.core.kit.write_queue import QueueTimeout
from ctxhub.mcp import cross_origin, media_types, request_bodies
from ctxhub.mcp.addresses import prefix_of, take_proxy_headers
from ctxhub.mcp.call_threads import run_for
from ctxhub.mcp.connections import when_ending
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.event_streams import EventStreams, may_stream
from ctxhub.mcp.http_messages import Reply, answer_body
from ctxhub.mcp.json_size import refuse_many_values
from ctxhub.mcp.long_polling import with_long_polling
from ctxhub.mcp.not_found import HOW_TO_SEND, nothing_at
from ctxhub.mcp.other_workers import wait_for_others
from ctxhub.mcp.periodic_cleanup import run_periodic_cleanup
from ctxhub.mcp.progress_streams import START, answer_with_progress, event_of, may_stream_progress
from ctxhub.mcp.refusals import refuse, send_json, status_of, with_ids
from ctxhub.mcp.request_bodies import ClientGone, TooLong, TooSlow, read_body
from ctxhub.mcp.requests import Surface
from ctxhub.mcp.rest_requests import bearer_token, long_body, share_of, verified_share, written_project
from ctxhub.mcp.schema_watch import watch_schema
from ctxhub.mcp.serving import PROBES, Serving
from ctxhub.mcp.shares import HUB, Share
from ctxhub.mcp.subscription_streams import follow
from ctxhub.mcp.subscriptions import Listening
from ctxhub.mcp.wakeups import watch
from ctxhub.mcp.webhook_worker import deliver_webhooks
from ctxhub.mcp.write_slots import write_slot
from ctxhub.toolbox.rates import rate_headers

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Answer = Callable[[Scope, bytes], list[Message]]
"""Answers a request with its body in the thread that calls it."""

Mode = Literal["both", "api", "mcp"]

PATHS = ("/mcp", "/mcp/")
SENT_ONCE = (
    *(b"host", b"authorization", b"origin"),
    *(b"mcp-protocol-version", b"mcp-method", b"mcp-name"),
)


class Dispatcher:
    """The ASGI application: `/mcp` goes to the MCP server, the rest to Django, as far as `mode` allows."""

    def __init__(
        self,
        django: Answer,
        *,
        mode: str = "both",
        surface: Surface | None = None,
        admit: Callable[[Caller], Caller] | None = None,
        runs_tasks: bool = True,
    ) -> None:
        self._django = django
        self._admit = admit
        self._runs_tasks = runs_tasks
        self._serves_mcp = mode in ("both", "mcp")
        self._serves_django = mode in ("both", "api")
        self._surface = surface or Surface()
        self._streams = EventStreams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        with Serving(scope, send) as serving:
            await self._serve(scope, receive, serving.send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        take_proxy_headers(scope)
        if name := _sent_twice(scope):
            answer = refuse if scope["path"] in PATHS else _refuse
            await answer(send, 400, InvalidInput(f"The header {name} was sent twice."))
        elif scope["path"] in PATHS and self._serves_mcp:
            await self._serve_mcp(scope, receive, send)
        elif nothing := nothing_at(scope["path"], serves_mcp=self._serves_mcp):
            await _refuse(cross_origin.with_cors_headers(_headers(scope), send), 404, nothing)
        elif self._serves_django or scope.get("path") in PROBES:
            await self._serve_django(scope, receive, send)
        else:
            await refuse(send, 404, InvalidInput("This process serves /mcp only."))

    async def _serve_django(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Holds a thread while Django works, never while a client sends or reads slowly."""
        headers = _headers(scope)
        send_error = (
            cross_origin.with_cors_headers(headers, send) if scope["path"].startswith("/api/") else send
        )
        if refusal := _refuse_foreign_host(headers) or _refuse_below_a_path(scope, headers):
            await _refuse(send_error, *refusal)
            return
        try:
            at_most = await long_body(scope, headers)
            body = await read_body(headers, receive, at_most=at_most)
            if scope["path"].startswith("/api/") and not at_most:
                refuse_many_values(body)
        except (TooLong, TooSlow, InvalidInput) as error:
            await _refuse(send_error, *_refuse_body(error))
        except ClientGone:
            return
        else:
            share = await verified_share(scope, headers)
            slug = await written_project(share, scope, headers, body)
            opening = Opening()
            try:
                async with write_slot(slug) if slug else nullcontext():
                    with opening.at_work() if may_stream(scope) else nullcontext():
                        messages = await self._ask_django(None if slug else share, scope, body)
            except QueueTimeout as error:
                log_failure(scope["path"], error)
                await _refuse(send_error, status_of(error), failure_of(error))
                return
            if opening.follow is None or messages[0]["status"] != 200:
                for message in messages:
                    await send(message)
            elif refused := self._streams.refusal(opening.follow.listener):
                await _refuse(send_error, *refused)
            else:  # Django has answered the beginning.
                await self._streams.serve(opening.follow, share, messages[0], scope, receive, send)

    async def _ask_django(self, share: Share | None, scope: Scope, body: bytes) -> list[Message]:
        return await with_long_polling(lambda: run_for(share, self._django, dict(scope), body))

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        """Runs the periodic cleanup as long as the process runs; writes what waits."""
        await receive()
        watch.begin()
        when_ending.append(watch.end)
        tasks = [run_periodic_cleanup(), watch_schema(), deliver_webhooks()] if self._runs_tasks else []
        running = [asyncio.create_task(task) for task in tasks]
        await wait_for_others()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        when_ending.remove(watch.end)
        for task in running:
            task.cancel()
        await asyncio.wait(running) if running else None  # A webhook's try under way ends by itself.
        # Not left to atexit: uvicorn ends with the signal that stopped it.
        await run_in_thread(HUB, flush_all)
        for tracer in TRACERS:
            await run_in_thread(HUB, tracer.end)
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve_mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        send = cross_origin.with_cors_headers(headers, send)
        if refusal := _refuse_foreign(headers):
            await refuse(send, *refusal)
            return
        if cross_origin.is_preflight(scope["method"], headers):
            await cross_origin.answer_preflight(send)
            return
        try:
            caller = await _caller(scope, headers, self._admit)
        except CtxhubError as error:
            await refuse(send, status_of(error), error)
            return
        except Exception as error:
            log_failure("/mcp", error)
            await refuse(send, status_of(error), failure_of(error))
            return
        send = _with_rate(caller, send)
        if scope["method"] != "POST":
            # The server is stateless: a stream opened by GET would stay empty and only hold a connection.
            await refuse(send, 405, InvalidInput("MCP is spoken by POST here."))
            return
        try:
            body = await read_body(headers, receive, at_most=_max_message_bytes())
            refuse_many_values(body)
        except (TooLong, TooSlow, InvalidInput) as error:
            await refuse(send, *_refuse_body(error))
        except ClientGone:
            return
        else:
            await self._answer(body, headers, caller, scope, receive, send)

    async def _answer(
        self, body: bytes, headers: dict[str, str], caller: Caller, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if refusal := media_types.refuse_body(headers):
            await refuse(send, *refusal, body)
        elif (media_type := media_types.accepted(headers)) is None:
            hint = f"Send the header Accept: {media_types.JSON}, {media_types.EVENTS}."
            await refuse(send, 406, InvalidInput("MCP is answered in JSON.", hint=hint), body)
        else:
            answer = partial(answer_body, body, headers, caller, self._surface)
            streams = may_stream_progress(headers, body)
            reply = await (answer_with_progress(answer, send) if streams else answer())
            if reply is None:
                return
            if reply.stream is None:
                await _send_reply(send, reply, media_type)
            elif media_types.names_events(headers):
                await self._stream(reply.stream, body, scope, receive, send)
            else:
                hint = f"Send the header Accept: {media_types.JSON}, {media_types.EVENTS}."
                await refuse(send, 406, InvalidInput("This is answered by a stream.", hint=hint), body)

    async def _stream(
        self, stream: Listening, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        share = Share.of(stream.caller)
        try:
            following = await run_in_thread(share, follow, stream)
        except CtxhubError as error:
            await refuse(send, status_of(error), error, body)
            return
        except Exception as error:
            log_failure("/mcp", error)
            await refuse(send, status_of(error), failure_of(error), body)
            return
        if refused := self._streams.refusal(following.listener):
            await refuse(send, *refused, body)
            return
        await self._streams.serve(following, share, START, scope, receive, send)


def _sent_twice(scope: Scope) -> str:
    """A header that decides who speaks to whom and came twice; "" if none. Readers differ in which counts."""
    names = [name for name, _ in scope["headers"]]
    return next((name.decode().title() for name in SENT_ONCE if names.count(name) > 1), "")


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by their names in lower case; what was sent in several lines is joined."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _with_rate(caller: Caller, send: Send) -> Send:
    """Sends with what is left of the rate limit of the token, if there is one."""
    if not (told := rate_headers(caller.token_id)):
        return send
    headers = [(name.lower().encode(), value.encode()) for name, value in told.items()]

    async def send_with_rate(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *headers]}
        await send(message)

    return send_with_rate


async def _send_reply(send: Send, reply: Reply, media_type: str) -> None:
    """Send the message as JSON, or as the only event of a stream to a client that takes nothing else."""
    if reply.failure is not None and isinstance(reply.message, dict):
        await send_json(send, reply.status, reply.failure, reply.message)
        return
    message = with_ids(reply.message)
    body = b"" if message is None else to_json(message, inf_nan_mode="null")
    if body and media_type == media_types.EVENTS:
        body = event_of(message)
    headers = [(b"content-length", str(len(body)).encode())]
    if body:
        headers.append((b"content-type", media_type.encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _caller(scope: Scope, headers: dict[str, str], admit: Callable[[Caller], Caller] | None) -> Caller:
    """The caller of the token, as `admit` returns it, as the agent that the request names.

    Raises Unauthenticated without a valid token, and what `admit` raises.
    """
    leave_replaced_if_due()  # What is remembered of its tokens.
    if not (token := bearer_token(headers)):
        raise Unauthenticated("This hub needs a token.", hint=HOW_TO_SEND)
    if (caller := authenticate_remembered(token)) is None:
        caller = await run_in_thread(share_of(scope, headers), authenticate, token)
    caller = admit(caller) if admit else caller
    if agent := headers.get(AGENT_HEADER.lower(), "").strip():
        caller = caller.named(clean_agent(header_text(agent), AGENT_HEADER))
    elif not caller.pinned and (client := _client(headers, scope.get("query_string", b""))):
        caller = caller.named(client)
    places = (headers.get(name.lower(), "") for name in (BRANCH_HEADER, WORKTREE_HEADER))
    caller = caller.at(*map(header_text, places))
    if session := headers.get(SESSION_HEADER.lower(), "").strip():
        return caller.in_session(clean_call_session(header_text(session), SESSION_HEADER))
    if session := headers.get(MADE_UP_SESSION_HEADER.lower(), "").strip():
        name = clean_made_up_session(header_text(session), MADE_UP_SESSION_HEADER)
        return replace(caller, window=Window(name, is_remote=True))
    return caller


def _client(headers: dict[str, str], query: bytes) -> str:
    """The client that asks: as which an unpinned token speaks. Named by header, or by `/mcp?client=codex`."""
    if client := headers.get(CLIENT_HEADER.lower(), "").strip():
        return clean_agent(header_text(client), CLIENT_HEADER)
    names = parse_qs(query.decode("latin-1")).get("client")
    return clean_agent(names[-1], "client in the address") if names else ""


def _refuse_foreign_host(headers: dict[str, str]) -> tuple[int, CtxhubError] | None:
    """421 for a Host that is not in ALLOWED_HOSTS."""
    host = headers.get("host", "")
    if _is_allowed(host):
        return None
    return 421, NotAllowed(f"The host {host!r} is not served here.", hint="Add it to CTXHUB_ALLOWED_HOSTS.")


def _refuse_below_a_path(scope: Scope, headers: dict[str, str]) -> tuple[int, CtxhubError] | None:
    """421 for pages below a path of a host: their links lead to its root. What agents call has no links."""
    prefix = prefix_of(scope, headers)
    if not prefix or scope["path"].startswith("/api/v1/") or scope["path"] in PROBES:
        return None
    return 421, InvalidInput(
        f"The pages of this hub do not work below {shown(prefix)}: they belong to the root of a host.",
        hint="Give the hub a host of its own, such as https://ctxhub.example.com.",
    )


def _refuse_foreign(headers: dict[str, str]) -> tuple[int, CtxhubError] | None:
    """421 for a Host that is not in ALLOWED_HOSTS, 403 for an Origin that is neither there nor listed."""
    if refusal := _refuse_foreign_host(headers):
        return refusal
    origin = headers.get("origin")
    if origin and origin not in settings.CORS_ORIGINS and not _is_allowed(_host_of(origin)):
        return 403, NotAllowed(
            f"The origin {origin!r} is not allowed.", hint="Add its host to CTXHUB_ALLOWED_HOSTS."
        )
    return None


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _is_allowed(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _max_message_bytes() -> int:
    """The limit of a REST body, for one long argument, plus 64 KiB for the message around it."""
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 64 * 1024


def _refuse_body(error: TooLong | TooSlow | InvalidInput) -> tuple[int, CtxhubError]:
    if isinstance(error, InvalidInput):
        return 400, error
    if isinstance(error, TooSlow):
        return 408, InvalidInput(f"The body did not come within {request_bodies.SECONDS_TO_SEND:.0f} s.")
    return 413, InvalidInput(f"The body has more than {error.at_most:,} bytes.")


async def _refuse(send: Send, status: int, error: CtxhubError) -> None:
    """Answer with an error in the format of the REST API."""
    await send_json(send, status, error, error.body())
