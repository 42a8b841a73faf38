"""Addresses of clients: whose connections are counted together, and what a proxy says about a request.

Proxy headers are removed from every request, so that nothing behind believes what a client made up.
"""

from collections.abc import Mapping, MutableMapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

from django.conf import settings

Scope = MutableMapping[str, Any]
Address = IPv4Address | IPv6Address

FORWARDED_FOR, FORWARDED_PROTO = b"x-forwarded-for", b"x-forwarded-proto"
PROXY_HEADERS = {FORWARDED_FOR, FORWARDED_PROTO, b"x-forwarded-host", b"x-forwarded-port", b"forwarded"}

FORWARDED_PREFIX = "x-forwarded-prefix"
IS_FORWARDED = "ctxhub.is_forwarded"
"""In the scope of a request that came with proxy headers."""
# What proxies add besides those that are removed, by the names of WSGI.
_SIGNS = ("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_CLIENT_IP", "HTTP_CF_CONNECTING_IP")


def counted_address(host: str | None) -> str:
    """The address that a connection is counted for; "" for this machine, and for a proxy in front.

    All addresses of an IPv6 network of 64 bits, which is what one machine is given, count as one.
    """
    address = _parsed(host or "")
    if address is None or address.is_loopback or settings.BEHIND_PROXY:
        return ""
    return str(IPv6Network((address, 64), strict=False) if isinstance(address, IPv6Address) else address)


def take_proxy_headers(scope: Scope) -> None:
    """Remove the proxy headers of a request. With a proxy in front, take client and scheme from them.

    Of each header the last value counts: the one that the proxy added. Those before it came with the request.
    """
    told = [(name, value) for name, value in scope["headers"] if name in PROXY_HEADERS]
    if not told:
        return
    scope[IS_FORWARDED] = True
    scope["headers"] = [header for header in scope["headers"] if header[0] not in PROXY_HEADERS]
    if not settings.BEHIND_PROXY:
        return
    if address := _parsed(_last(told, FORWARDED_FOR)):
        scope["client"] = (str(address), 0)
    if (scheme := _last(told, FORWARDED_PROTO).lower()) in ("http", "https"):
        scope["scheme"] = scheme


def is_direct(meta: Mapping[str, Any], scope: Mapping[str, Any]) -> bool:
    """Whether a request came from this machine, and no proxy handed it on.

    `meta`: the headers and the address as Django has them.
    """
    if settings.BEHIND_PROXY or scope.get(IS_FORWARDED):
        return False
    if any(name in _SIGNS or name.startswith("HTTP_X_FORWARDED") for name in meta):
        return False
    address = _parsed(str(meta.get("REMOTE_ADDR", "")))
    return address is not None and address.is_loopback


def prefix_of(scope: Scope, headers: Mapping[str, str]) -> str:
    """The path below which the hub is reached, as the proxy in front or the server says; "" at the root."""
    told = headers.get(FORWARDED_PREFIX, "") if settings.BEHIND_PROXY else ""
    prefix = (told.rpartition(",")[2] or scope.get("root_path") or "").strip().strip("/")
    return f"/{prefix}" if prefix else ""


def _last(told: list[tuple[bytes, bytes]], name: bytes) -> str:
    values = b",".join(value for each, value in told if each == name)
    return values.decode("latin-1").rpartition(",")[2].strip()


def _parsed(text: str) -> Address | None:
    """An address with or without brackets and port; IPv4 in IPv6 as IPv4."""
    host = text
    if text.startswith("["):
        host = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        host = text.partition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
