"""Error responses: an HTTP status with its headers and a JSON body; of `/mcp` one that SDK clients show."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ctxhub.core.kit.errors import CtxhubError, LimitReached, NotAllowed, Unauthenticated
from ctxhub.core.kit.failures import is_outage
from ctxhub.core.kit.served import identified
from ctxhub.mcp.json_rpc import find_request_id, refusal
from ctxhub.mcp.media_types import JSON
from ctxhub.toolbox.rates import refusal_headers

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Answered = dict[str, Any] | list[dict[str, Any]] | None


def status_of(error: Exception) -> int:
    statuses = ((Unauthenticated, 401), (NotAllowed, 403), (LimitReached, 429), (CtxhubError, 400))
    if is_outage(error):
        return 503
    return next((status for kind, status in statuses if isinstance(error, kind)), 500)


def with_ids(message: Answered) -> Answered:
    """A message, or those of a batch, whose errors have the id of the HTTP request."""
    if isinstance(message, list):
        return [with_id(each) for each in message]
    return None if message is None else with_id(message)


def with_id(answer: dict[str, Any]) -> dict[str, Any]:
    """An error with the id of the HTTP request: of JSON-RPC in its data, as far as that is an object."""
    error = answer.get("error")
    if isinstance(error, str):
        return identified(answer)
    if not isinstance(error, dict) or not isinstance(data := error.get("data", {}), dict):
        return answer
    return {**answer, "error": {**error, **({"data": told} if (told := identified(data)) else {})}}


async def refuse(send: Send, status: int, error: CtxhubError, body: bytes = b"") -> None:
    """Answer with a JSON-RPC error that has the id of the request in `body`, if the body was read."""
    await send_json(send, status, error, refusal(error, find_request_id(body)))


async def send_json(send: Send, status: int, error: CtxhubError, answer: dict[str, Any]) -> None:
    """Send `answer`, which describes `error`, with the headers that belong to the status."""
    body = json.dumps(with_id(answer)).encode()
    headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="ctxhub"'))
    if status == 405:
        headers.append((b"allow", b"POST"))
    if status == 408:
        headers.append((b"connection", b"close"))  # The rest of the body may never come.
    if "retry_after" in error.details:
        headers.append((b"retry-after", str(error.details["retry_after"]).encode()))
    headers += [
        (name.lower().encode(), each.encode()) for name, each in refusal_headers(error.details).items()
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
