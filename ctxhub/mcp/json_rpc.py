"""JSON-RPC: reading a message, and the errors of requests, also of those that cannot be parsed."""

import json
import re
from typing import Any

from pydantic_core import from_json

from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.failures import Failure
from ctxhub.core.kit.frozen import frozen

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000
UNSUPPORTED_VERSION = -32022

END_BYTES = 1_000
NO_MESSAGE = "This is no JSON-RPC message."

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")\s*'
_TEXT = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*'
# Clients write the id before or after params; an "id" deeper in the line may belong to anything.
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _TEXT + rb",\s*){0,2}" + _ID + rb"[,}]")
_ID_LAST = re.compile(
    rb"\}\s*,\s*(?:" + _TEXT + rb",\s*){0,2}" + _ID + rb"(?:,\s*" + _TEXT + rb"){0,2}\}\s*$"
)

Id = int | str


class RpcError(Exception):
    """The error that answers a request; `data` may be absent (None)."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def body(self) -> dict[str, Any]:
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **data}


@frozen
class Message:
    """A request, or without an id a notification."""

    id: Id | None
    method: str
    params: dict[str, Any] | None


def read_message(line: bytes) -> Message | None:
    """The request or notification in the line; None if it is a response. Raises RpcError if it is neither."""
    try:
        message = from_json(line)
    except ValueError as error:
        raise RpcError(PARSE_ERROR, f"Invalid JSON: {error}") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, NO_MESSAGE)
    method, params = message.get("method"), message.get("params")
    if isinstance(method, str) and (params is None or isinstance(params, dict)):
        return Message(as_id(message.get("id")), method, params)
    if _is_response(message):
        return None
    raise RpcError(INVALID_REQUEST, NO_MESSAGE)


def as_id(value: Any) -> Id | None:
    """The value if it can be the id of a request, else None."""
    return value if type(value) in (int, str) else None


def _is_response(message: dict[str, Any]) -> bool:
    has_id = as_id(message.get("id")) is not None
    error = message.get("error")
    if isinstance(error, dict) and (has_id or message.get("id", ...) is None):
        return isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    return has_id and isinstance(message.get("result"), dict)


def response(request_id: Id | None, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_response(request_id: Id | None, error: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def refusal(error: CtxhubError, request_id: Id | None = None) -> dict[str, Any]:
    """The response for an error of the hub; `data` is the error as in the contract.

    SDK clients show only the message to their user, so it includes the hint.
    """
    code = INTERNAL_ERROR if isinstance(error, Failure) else INVALID_REQUEST
    message = f"{error.message} {error.hint}".rstrip()
    return error_response(request_id, RpcError(code, message, error.body()).body())


def find_request_id(line: bytes) -> Id | None:
    """The id of the request in a message, which may be invalid JSON; None if no id can be read."""
    try:
        message = json.loads(line)
        request_id = message.get("id") if isinstance(message, dict) else None
    except (ValueError, RecursionError):
        found = _ID_FIRST.match(line[:END_BYTES]) or _ID_LAST.search(line[-END_BYTES:])
        request_id = _decoded(found[1]) if found else None
    return as_id(request_id)


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
