"""The two eras of the protocol: a handshake until 2025-11-25, from 2026-07-28 an envelope in each request."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.mcp.json_rpc import INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED_VERSION, RpcError
from ctxhub.mcp.params import CLIENT_CAPABILITIES, VERSION

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATER_VERSIONS = ("2026-07-28",)
WITH_BATCHES = "2025-03-26"
MOST_IN_BATCH = 50


def negotiated(offered: str) -> str:
    """The version of a connection whose client offers this one in its handshake."""
    return offered if offered in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def check_batch(batch: Sequence[Any], version: str) -> None:
    """Raise RpcError unless this is a batch of messages that the version of the protocol has."""
    why = ""
    if version != WITH_BATCHES:
        why = f"Only version {WITH_BATCHES} of the protocol has batches: send each message by itself."
    elif not 1 <= len(batch) <= MOST_IN_BATCH:
        why = f"A batch has 1 to {MOST_IN_BATCH} messages; this one has {len(batch):,}."
    elif any(isinstance(each, dict) and each.get("method") == "initialize" for each in batch):
        why = "initialize is sent by itself, not in a batch."
    if why:
        raise RpcError(INVALID_REQUEST, why)


class Negotiation:
    """Era and version of one connection on stdio: the first request decides the era."""

    def __init__(self) -> None:
        self._is_later: bool | None = None
        self._has_begun = False
        self._version = HANDSHAKE_VERSIONS[-1]

    def version_of(self, method: str, params: Mapping[str, Any]) -> str:
        """The version in which to answer a request. Raises RpcError if it is not of the connection's era."""
        if self._is_later is None:
            self._is_later = method != "initialize" and has_envelope(params)
        if self._is_later:
            return _later_version(method, params)
        if method != "initialize" and has_envelope(params):
            raise RpcError(
                INVALID_REQUEST,
                "this connection serves the handshake protocol era; "
                f"requests carrying the {LATER_VERSIONS[-1]} envelope are not accepted on it",
            )
        return self._version

    @property
    def version(self) -> str:
        """The version of a connection that began with a handshake."""
        return self._version

    @property
    def is_open(self) -> bool:
        """Whether the client may send other requests than its handshake."""
        return bool(self._is_later) or self._has_begun

    def begin(self, version: str | None = None) -> None:
        """The handshake has begun; with this version, if one was negotiated."""
        self._has_begun = True
        self._version = version or self._version


def _later_version(method: str, params: Mapping[str, Any]) -> str:
    if method == "initialize":
        offered = params.get("protocolVersion")
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"connection is serving the {LATER_VERSIONS[-1]} protocol; "
            "the initialize handshake is not accepted",
            _supported(offered) if isinstance(offered, str) else {"supported": [*LATER_VERSIONS]},
        )
    version = version_in_envelope(params)
    if not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, "the protocol-version envelope value must be a string")
    if version not in LATER_VERSIONS:
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", _supported(version))
    return version


def has_envelope(params: Mapping[str, Any]) -> bool:
    """Whether a request is of the later era, whatever version it names."""
    meta = params.get("_meta")
    return isinstance(meta, Mapping) and VERSION in meta


def version_in_envelope(params: Mapping[str, Any]) -> Any:
    """The version that a request of the later era names in its envelope. Raises RpcError without one."""
    meta = params.get("_meta")
    if not isinstance(meta, Mapping):
        raise RpcError(
            INVALID_PARAMS,
            f"params._meta must be an object carrying the required {VERSION!r} and {CLIENT_CAPABILITIES!r} "
            "envelope keys",
        )
    if missing := [key for key in (VERSION, CLIENT_CAPABILITIES) if key not in meta]:
        raise RpcError(
            INVALID_PARAMS, f"params._meta is missing the required envelope key(s): {', '.join(missing)}"
        )
    return meta[VERSION]


def _supported(requested: str) -> dict[str, Any]:
    return {"supported": [*LATER_VERSIONS], "requested": requested}
