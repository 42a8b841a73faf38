"""Refusals of `/mcp`: a status and headers of HTTP, and a JSON-RPC error that SDK clients show."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, LimitReached, NotAllowed, Unauthenticated
from ctxhub.core.kit.failures import DATABASE_AWAY
from ctxhub.mcp.json_rpc import NO_MESSAGE, id_in, refusal

JSON = "application/json"
FAILURE = "ctxhub.failure"
_ANY_JSON = {JSON, "application/*", "*/*"}

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


def status_of(error: Exception) -> int:
    statuses = ((Unauthenticated, 401), (NotAllowed, 403), (LimitReached, 429), (CtxhubError, 400))
    if isinstance(error, DATABASE_AWAY):
        return 503
    return next((status for kind, status in statuses if isinstance(error, kind)), 500)


async def refuse(send: Send, status: int, error: CtxhubError, sent: bytes = b"") -> None:
    """Answer with a JSON-RPC error, which names the request in `sent`: the body, where it was read."""
    await send_json(send, status, error, refusal(error, id_in(sent)))


async def send_json(send: Send, status: int, error: CtxhubError, answer: dict[str, Any]) -> None:
    """Send `answer`, which is about `error`, with the headers that go with the status."""
    body = json.dumps(answer).encode()
    headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="ctxhub"'))
    if status == 405:
        headers.append((b"allow", b"POST"))
    if "retry_after" in error.details:
        headers.append((b"retry-after", str(error.details["retry_after"]).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refuse_media_type(headers: Mapping[str, str]) -> tuple[int, CtxhubError] | None:
    """415 for a body, 406 for an answer, that is not to be JSON."""
    if _media_types(headers.get("content-type", "")) != {JSON}:
        return 415, InvalidInput("MCP is sent as JSON.", hint=f"Send the header Content-Type: {JSON}.")
    if not _ANY_JSON & _media_types(headers.get("accept", "")):
        return 406, InvalidInput(
            "MCP is answered in JSON.", hint=f"Send the header Accept: {JSON}, text/event-stream."
        )
    return None


def _media_types(header: str) -> set[str]:
    return {part.partition(";")[0].strip().lower() for part in header.split(",")}


def in_our_words(scope: Scope, sent: bytes, send: Send) -> Send:
    """`send` for the SDK: refusals that it words for nobody are worded here.

    A call that failed (noted in the scope) is an answer like any other to the SDK: here it gets its status.
    """
    held: list[Message] = []

    async def send_in_our_words(message: Message) -> None:
        if message["type"] == "http.response.start" and (FAILURE in scope or message["status"] >= 400):
            held.append(message)
        elif not held:
            await send(message)
        else:
            held.append(message)
            if not message.get("more_body"):
                await _send_held(send, held, scope.get(FAILURE), sent)

    return send_in_our_words


async def _send_held(send: Send, held: list[Message], failure: CtxhubError | None, sent: bytes) -> None:
    status = held[0]["status"]
    if failure is not None:
        await refuse(send, 503, failure, sent)
    elif mended := _mended(status, b"".join(part.get("body", b"") for part in held[1:])):
        await refuse(send, status, mended, sent)
    else:
        for message in held:
            await send(message)


def _mended(status: int, body: bytes) -> CtxhubError | None:
    """The SDK's refusal in words a person reads; None for one that is good as it is."""
    try:
        message = str(json.loads(body)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        hint = f"Accept {JSON} and text/event-stream." if status == 406 else ""
        return InvalidInput("The MCP server refuses this request.", hint=hint)
    # Of pydantic, about each kind of message that this one is not.
    return InvalidInput(NO_MESSAGE) if message.startswith("Validation error") else None
