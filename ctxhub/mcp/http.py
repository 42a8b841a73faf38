"""`/mcp` beside Django in one ASGI process; token, Host and Origin are checked before the SDK's turn."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from ctxhub.core.accounts.services.access_tokens import authenticate, authenticate_remembered
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotAllowed, Unauthenticated
from ctxhub.core.kit.failures import Failure, failure_of, log_failure
from ctxhub.core.kit.headers import header_text
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.mcp import cross_origin, request_bodies
from ctxhub.mcp.db_threads import in_thread
from ctxhub.mcp.long_polling import with_long_polling
from ctxhub.mcp.periodic_cleanup import keep_house
from ctxhub.mcp.refusals import FAILURE, in_our_words, refuse, refuse_media_type, send_json, status_of
from ctxhub.mcp.request_bodies import Gone, TooLong, TooSlow, whole_body, with_body
from ctxhub.mcp.server import Context, Surface, build_server
from ctxhub.mcp.worker_threads import WorkerThreads

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Mode = Literal["both", "api", "mcp"]

SECONDS_KEPT_ALIVE = 75  # An agent thinks for a minute between two calls.

CALLER = "ctxhub.caller"
PATHS = ("/mcp", "/mcp/")


class Dispatcher:
    """The whole process: `/mcp` is the MCP server's, the rest is Django's, as far as `mode` serves them."""

    def __init__(
        self,
        django: App,
        *,
        mode: str = "both",
        surface: Surface | None = None,
        admit: Callable[[Caller], Caller] | None = None,
        keeps_house: bool = True,
    ) -> None:
        self._django = django
        self._admit = admit
        self._keeps_house = keeps_house
        self._lanes = WorkerThreads()
        self._serves_mcp = mode in ("both", "mcp")
        self._serves_django = mode in ("both", "api")
        self._manager = StreamableHTTPSessionManager(
            build_server(_caller_of, surface or Surface(), _note_failure),
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=_longest_message(),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and scope["path"] in PATHS and self._serves_mcp:
            await self._serve_mcp(scope, receive, send)
        elif self._serves_django or scope.get("path") in ("/healthz", "/readyz"):
            await self._serve_django(scope, receive, send)
        else:
            await refuse(send, 404, InvalidInput("This process serves /mcp only."))

    async def _serve_django(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A lane is held while Django works, never while a client sends or reads slowly."""
        headers = _headers(scope)
        answer = cross_origin.readable(headers, send) if scope["path"].startswith("/api/") else send
        if refusal := _refuse_foreign_host(headers):
            await _refuse(answer, *refusal)
            return
        try:
            body = await whole_body(headers, receive)
        except (TooLong, TooSlow) as error:
            await _refuse(answer, *_refuse_body(error))
        except Gone:
            return
        else:
            for message in await with_long_polling(lambda: self._ask_django(scope, with_body(body, receive))):
                await send(message)

    async def _ask_django(self, scope: Scope, receive: Receive) -> list[MutableMapping[str, Any]]:
        said: list[MutableMapping[str, Any]] = []

        async def keep(message: MutableMapping[str, Any]) -> None:
            said.append(message)

        async with self._lanes.one(scope["method"], scope["path"]):
            await self._django(dict(scope), receive, keep)
        return said

    async def _live(self, receive: Receive, send: Send) -> None:
        """The SDK's tasks and the housekeeping live as long as the process."""
        await receive()
        async with self._manager.run():
            house = asyncio.create_task(keep_house()) if self._keeps_house else None
            await send({"type": "lifespan.startup.complete"})
            await receive()
            if house:
                house.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve_mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        send = cross_origin.readable(headers, send)
        if refusal := _refuse_foreign(headers):
            await refuse(send, *refusal)
            return
        if cross_origin.asks_first(scope["method"], headers):
            await cross_origin.give_leave(send)
            return
        try:
            caller = await _caller(headers, self._admit)
        except CtxhubError as error:
            await refuse(send, status_of(error), error)
            return
        except Exception as error:
            log_failure("/mcp", error)
            await refuse(send, status_of(error), failure_of(error))
            return
        if scope["method"] != "POST":
            # Stateless: a stream opened by GET would stay empty, and hold its connection for nothing.
            await refuse(send, 405, InvalidInput("MCP is spoken by POST here."))
            return
        try:
            body = await whole_body(headers, receive, at_most=_longest_message())
        except (TooLong, TooSlow) as error:
            await refuse(send, *_refuse_body(error))
        except Gone:
            return
        else:
            if refusal := refuse_media_type(headers):
                await refuse(send, *refusal, body)
                return
            scope = {**scope, "path": "/mcp", CALLER: caller}
            answer = in_our_words(scope, body, send)
            await self._manager.handle_request(scope, with_body(body, receive), answer)


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _caller_of(context: Context) -> Caller:
    caller: Caller = context.request.scope[CALLER]  # type: ignore[union-attr]
    return caller


def _note_failure(context: Context, failure: Failure) -> None:
    if "retry_after" in failure.details:
        context.request.scope[FAILURE] = failure  # type: ignore[union-attr]


async def _caller(headers: dict[str, str], admit: Callable[[Caller], Caller] | None) -> Caller:
    """Whom the token names, as far as `admit` lets them in."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(
            "This hub needs a token.",
            hint="Send the header Authorization: Bearer TOKEN (manage.py token create).",
        )
    token = token.strip()
    if (caller := authenticate_remembered(token)) is None:
        caller = await in_thread(authenticate, token)
    caller = admit(caller) if admit else caller
    if agent := headers.get("ctxhub-agent", "").strip():
        caller = caller.speaking_as(clean_agent(header_text(agent), "Ctxhub-Agent"))
    return caller


def _refuse_foreign_host(headers: dict[str, str]) -> tuple[int, CtxhubError] | None:
    """421 for a Host that is not among Django's allowed hosts."""
    host = headers.get("host", "")
    if _is_allowed(host):
        return None
    return 421, NotAllowed(f"The host {host!r} is not served here.", hint="Add it to CTXHUB_ALLOWED_HOSTS.")


def _refuse_foreign(headers: dict[str, str]) -> tuple[int, CtxhubError] | None:
    """421 for a Host, 403 for an Origin, that is not among Django's allowed hosts."""
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


def _longest_message() -> int:
    """An argument may be as long as a body of REST, and a message has a few words around it."""
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 64 * 1024


def _refuse_body(error: TooLong | TooSlow) -> tuple[int, CtxhubError]:
    if isinstance(error, TooSlow):
        return 408, InvalidInput(f"The body did not come within {request_bodies.SECONDS_TO_SEND:.0f} s.")
    return 413, InvalidInput(f"The body has more than {error.at_most:,} bytes.")


async def _refuse(send: Send, status: int, error: CtxhubError) -> None:
    """In the words of REST."""
    await send_json(send, status, error, error.body())
