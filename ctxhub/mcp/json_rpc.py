"""JSON-RPC: reading a message, and the errors of requests, also of those that cannot be parsed."""

import json
import re
from typing import Any

from pydantic_core import from_json

from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.failures import Failure
from ctxhub.core.kit.frozen import frozen
from ctxhub.mcp.json_size import refuse_many_values

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # Until 2025-11-25.
CONNECTION_CLOSED = -32000
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

END_BYTES = 1_000
NO_MESSAGE = "This is no JSON-RPC message:"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_KINDS = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}

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
    return as_message(decoded(line))


def decoded(text: bytes) -> Any:
    """The value of a JSON text. Raises RpcError."""
    try:
        return from_json(text.removeprefix(BYTE_ORDER_MARK))
    except ValueError as error:
        if b"\0" in text[:4]:
            raise RpcError(PARSE_ERROR, "Invalid JSON: it is not in UTF-8; perhaps in UTF-16.") from None
        raise RpcError(PARSE_ERROR, f"Invalid JSON: {error}") from None


def as_message(value: Any) -> Message | None:
    """The request or notification that the value is; None for a response. Raises RpcError if it is neither.

    Params may be the text of a JSON object.
    """
    if not isinstance(value, dict):
        raise _no_message(f"it is {kind_of(value)}, not an object.")
    if value.get("jsonrpc") != "2.0":
        raise _no_message('"jsonrpc" must be "2.0".')
    method = value.get("method")
    if not isinstance(method, str):
        if method is None and _is_response(value):
            return None
        named = f"must be a text, not {kind_of(method)}" if method is not None else "is missing"
        raise _no_message(f'"method" {named}.')
    params = object_in(value.get("params"))
    if params is not None and not isinstance(params, dict):
        raise _no_message(f'"params" must be an object, not {kind_of(params)}.')
    request_id = as_id(value.get("id"))
    if request_id is None and "id" in value:
        raise _no_message(f'"id" must be a text or a whole number, not {_shown_id(value["id"])}.')
    return Message(request_id, method, params)


def _no_message(why: str) -> RpcError:
    return RpcError(INVALID_REQUEST, f"{NO_MESSAGE} {why}")


def id_in(value: Any) -> Id | None:
    """The id of what may be no message; None if it has none that can be one."""
    return as_id(value.get("id")) if isinstance(value, dict) else None


def object_in(value: Any) -> Any:
    """The object that a text is as JSON, as some clients send it, also twice; other values as they are."""
    inner = value
    for _ in range(2):
        if isinstance(inner, dict):
            return inner
        if not isinstance(inner, str):
            return value
        try:
            refuse_many_values(inner.encode())
            inner = from_json(inner) if inner.strip() else {}
        except (ValueError, InvalidInput):
            return value
    return inner if isinstance(inner, dict) else value


def kind_of(value: Any) -> str:
    """The type of a JSON value, for a message."""
    return "null" if value is None else _KINDS.get(type(value), "no JSON")


def _shown_id(value: Any) -> str:
    return str(value) if type(value) is float else kind_of(value)


def as_id(value: Any) -> Id | None:
    """The value if it can be the id of a request, else None. 1.0 is 1: some clients have no integers."""
    if type(value) is float and value.is_integer():
        return int(value)
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
        message = json.loads(line.removeprefix(BYTE_ORDER_MARK))
        return id_in(message)
    except (ValueError, RecursionError):
        found = _ID_FIRST.match(line[:END_BYTES]) or _ID_LAST.search(line[-END_BYTES:])
        return as_id(_value(found[1])) if found else None


def _value(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
