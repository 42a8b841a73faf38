"""JSON-RPC errors for requests that do not reach the SDK or that it cannot parse."""

import json
import re
from typing import Any

import mcp_types as types

from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.failures import Failure

END_BYTES = 1_000
NO_MESSAGE = "This is no JSON-RPC message."

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")\s*'
_TEXT = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*'
# Clients write the id before or after params; an "id" deeper in the line may belong to anything.
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _TEXT + rb",\s*){0,2}" + _ID + rb"[,}]")
_ID_LAST = re.compile(
    rb"\}\s*,\s*(?:" + _TEXT + rb",\s*){0,2}" + _ID + rb"(?:,\s*" + _TEXT + rb"){0,2}\}\s*$"
)


def refusal(error: CtxhubError, request_id: int | str | None = None) -> dict[str, Any]:
    """`{"jsonrpc", "id", "error": {"code", "message", "data"}}`; `data` is the error as in the contract.

    SDK clients show only the message to their user, so it includes the hint.
    """
    code = types.INTERNAL_ERROR if isinstance(error, Failure) else types.INVALID_REQUEST
    message = f"{error.message} {error.hint}".rstrip()
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": {"code": code, "message": message, "data": error.body()},
    }


def find_request_id(line: bytes) -> int | str | None:
    """The id of the request in a message, which may be invalid JSON; None if no id can be read."""
    try:
        message = json.loads(line)
        request_id = message.get("id") if isinstance(message, dict) else None
    except (ValueError, RecursionError):
        found = _ID_FIRST.match(line[:END_BYTES]) or _ID_LAST.search(line[-END_BYTES:])
        request_id = _decoded(found[1]) if found else None
    return request_id if type(request_id) in (int, str) else None


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
