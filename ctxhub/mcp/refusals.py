"""Error responses of `/mcp`: an HTTP status with its headers and a JSON-RPC error that SDK clients show."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, LimitReached, NotAllowed, Unauthenticated
from ctxhub.core.kit.failures import is_outage
from ctxhub.mcp.json_rpc import NO_MESSAGE, find_request_id, refusal

JSON = "application/json"
FAILURE = "ctxhub.failure"
_ANY_JSON = {JSON, "application/*", "*/*"}

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


def status_of(error: Exception) -> int:
    statuses = ((Unauthenticated, 401), (NotAllowed, 403), (LimitReached, 429), (CtxhubError, 400))
    if is_outage(error):
        return 503
    return next((status for kind, status in statuses if isinstance(error, kind)), 500)


async def refuse(send: Send, status: int, error: CtxhubError, body: bytes = b"") -> None:
    """Answer with a JSON-RPC error that has the id of the request in `body`, if the body was read."""
    await send_json(send, status, error, refusal(error, find_request_id(body)))


async def send_json(send: Send, status: int, error: CtxhubError, answer: dict[str, Any]) -> None:
    """Send `answer`, which describes `error`, with the headers that belong to the status."""
    body = json.dumps(answer).encode()
    headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="ctxhub"'))
    if status == 405:
        headers.append((b"allow", b"POST"))
    if status == 408:
        headers.append((b"connection", b"close"))  # The rest of the body may never come.
    if "retry_after" in error.details:
        headers.append((b"retry-after", str(error.details["retry_after"]).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refuse_media_type(headers: Mapping[str, str]) -> tuple[int, CtxhubError] | None:
    """415 if the request's body is not JSON, 406 if the client does not accept JSON."""
    if _media_types(headers.get("content-type", "")) != {JSON}:
        return 415, InvalidInput("MCP is sent as JSON.", hint=f"Send the header Content-Type: {JSON}.")
    if not _ANY_JSON & _media_types(headers.get("accept", "")):
        return 406, InvalidInput(
            "MCP is answered in JSON.", hint=f"Send the header Accept: {JSON}, text/event-stream."
        )
    return None


def _media_types(header: str) -> set[str]:
    return {part.partition(";")[0].strip().lower() for part in header.split(",")}


def with_own_refusals(scope: Scope, request_body: bytes, send: Send) -> Send:
    """Return a `send` for the SDK that replaces the SDK's unreadable error responses.

    To the SDK a failed call (noted in the scope) is an answer like any other: this gives it status 503.
    """
    held: list[Message] = []

    async def send_or_hold(message: Message) -> None:
        if message["type"] == "http.response.start" and (FAILURE in scope or message["status"] >= 400):
            held.append(message)
        elif not held:
            await send(message)
        else:
            held.append(message)
            if not message.get("more_body"):
                await _send_held(send, held, scope.get(FAILURE), request_body)

    return send_or_hold


async def _send_held(
    send: Send, held: list[Message], failure: CtxhubError | None, request_body: bytes
) -> None:
    status = held[0]["status"]
    if failure is not None:
        await refuse(send, 503, failure, request_body)
    elif error := _readable_error(status, b"".join(part.get("body", b"") for part in held[1:])):
        await refuse(send, status, error, request_body)
    else:
        for message in held:
            await send(message)


def _readable_error(status: int, body: bytes) -> CtxhubError | None:
    """A readable error in place of the SDK's; None if the SDK's is readable."""
    try:
        message = str(json.loads(body)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        hint = f"Accept {JSON} and text/event-stream." if status == 406 else ""
        return InvalidInput("The MCP server refuses this request.", hint=hint)
    # Pydantic lists an error for each message type that does not match.
    return InvalidInput(NO_MESSAGE) if message.startswith("Validation error") else None
