"""The version of the protocol in which a message over HTTP is answered, by its headers."""

import base64
import re
from collections.abc import Mapping
from typing import Any

from ctxhub.mcp.eras import HANDSHAKE_VERSIONS, LATER_VERSIONS, has_envelope, version_in_envelope
from ctxhub.mcp.json_rpc import HEADER_MISMATCH, UNSUPPORTED_VERSION, Message, RpcError

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
WITHOUT_HEADER = "2025-03-26"  # What the protocol assumes.
# The param that Mcp-Name repeats.
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_IN_BASE64 = re.compile(r"=\?base64\?(.*)\?=")


def version_over_http(message: Message, headers: Mapping[str, str]) -> str:
    """The version that the header names. A handshake is answered whatever it names: it negotiates.

    Raises RpcError for a version that is not served, and where headers of the later era contradict the body.
    """
    named, is_later = named_version(headers), has_envelope(message.params or {})
    if message.method == "initialize" and not is_later:
        return HANDSHAKE_VERSIONS[-1]
    if named in LATER_VERSIONS:
        if message.id is not None:
            _compare(headers, message.method, message.params or {}, named)
    elif named not in HANDSHAKE_VERSIONS:
        # A client of the later era cannot use what a handshake would negotiate.
        served = [*LATER_VERSIONS] if is_later else [*HANDSHAKE_VERSIONS, *LATER_VERSIONS]
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"The header {VERSION_HEADER} names {named[:60]!r}, which is not served. "
            f"Served are {', '.join(served)}{'' if is_later else '; initialize negotiates one'}.",
            {"supported": served, "requested": named},
        )
    return named


def named_version(headers: Mapping[str, str]) -> str:
    return _header(headers, VERSION_HEADER) or WITHOUT_HEADER


def _compare(headers: Mapping[str, str], method: str, params: Mapping[str, Any], version: str) -> None:
    """Raise RpcError where a proxy would read something else in the headers than stands in the body."""
    if (in_body := version_in_envelope(params)) != version:
        raise _mismatch(VERSION_HEADER, version, in_body)
    if (named := _header(headers, METHOD_HEADER)) != method:
        raise _mismatch(METHOD_HEADER, named, method)
    name = params.get(NAMED.get(method, ""))
    if name is not None and (named := _plain(_header(headers, NAME_HEADER))) != name:
        raise _mismatch(NAME_HEADER, named, name)


def _mismatch(header: str, named: str, in_body: Any) -> RpcError:
    said = f"names {named[:60]!r}" if named else "is missing"
    return RpcError(HEADER_MISMATCH, f"The header {header} {said}; the body has {str(in_body)[:60]!r}.")


def _header(headers: Mapping[str, str], name: str) -> str:
    return headers.get(name.lower(), "").strip()


def _plain(value: str) -> str:
    """The text of a header, which may be in Base64; "" if it cannot be decoded."""
    if not (encoded := _IN_BASE64.fullmatch(value)):
        return value
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except ValueError:
        return ""
