"""JSON-RPC errors for requests that never reach the SDK, or that it cannot read."""

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
# Clients write the id before params or after it; deeper within a line an "id" may be anything's.
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _TEXT + rb",\s*){0,2}" + _ID + rb"[,}]")
_ID_LAST = re.compile(
    rb"\}\s*,\s*(?:" + _TEXT + rb",\s*){0,2}" + _ID + rb"(?:,\s*" + _TEXT + rb"){0,2}\}\s*$"
)


def refusal(error: CtxhubError, request_id: int | str | None = None) -> dict[str, Any]:
    """`{"jsonrpc", "id", "error": {"code", "message", "data"}}`; `data` is the contract's error.

    SDK clients show their user the message alone, so it carries the hint too.
    """
    code = types.INTERNAL_ERROR if isinstance(error, Failure) else types.INVALID_REQUEST
    message = f"{error.message} {error.hint}".rstrip()
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": {"code": code, "message": message, "data": error.body()},
    }


def id_in(line: bytes) -> int | str | None:
    """The id of the request in a message that may be broken."""
    try:
        sent = json.loads(line)
        said = sent.get("id") if isinstance(sent, dict) else None
    except (ValueError, RecursionError):
        found = _ID_FIRST.match(line[:END_BYTES]) or _ID_LAST.search(line[-END_BYTES:])
        said = _decoded(found[1]) if found else None
    return said if type(said) in (int, str) else None


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
