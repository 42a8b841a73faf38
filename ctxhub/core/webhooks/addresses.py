"""Which addresses a webhook may have: no one's but public ones.

A name may lead anywhere, and elsewhere the next time. So an address is resolved at each delivery, its numbers
are checked here, and the connection is made to the checked ones.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen

LONGEST_URL = 2_000
MASKED_FROM = 24
ENDING = 4

# All but printable ASCII, and what readers of addresses take for a slash or the end of a host.
_ODD = re.compile(r"[^!-~]|[\\<>\"^`{|}]")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)

# Said one by one: what Python calls global differs between its versions.
_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
            *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        ),
    )
)
# Outside of it are loopback, private, link-local, mapped, translated (NAT64) and multicast addresses.
_PUBLIC_6 = IPv6Network("2000::/3")
# Protocol assignments with Teredo, documentation, and 6to4, which holds an IPv4 address.
_NOT_PUBLIC_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16")))

NOT_PUBLIC = "leads to no public address"
PRIVATE_HINT = "Whoever runs the hub allows others with CTXHUB_WEBHOOK_PRIVATE."


@frozen
class Target:
    """An address in parts. `path` is with the query; `host` is as the receiver's certificate names it."""

    is_secure: bool
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.is_secure else 80) else f"{host}:{self.port}"


def clean_url(url: str, *, allow_private: bool, needs_https: bool = False) -> Target:
    """The parts of an address. Raises InvalidInput, which does not repeat it: it is a secret."""
    target = _parts(url.strip())
    if needs_https and not target.is_secure:
        raise InvalidInput("url must begin with https:// for a chat.")
    if not allow_private and not _may_be_public(target.host):
        raise InvalidInput(f"url {NOT_PUBLIC}.", hint=PRIVATE_HINT)
    return target


def _parts(url: str) -> Target:
    if not url or len(url) > LONGEST_URL:
        raise InvalidInput(f"url must have 1 to {LONGEST_URL:,} characters.")
    if _ODD.search(url):
        raise InvalidInput("url holds a character that must be written as %XX, or a name as xn--.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidInput("url is not an address.", hint="Write https://example.com/hook.") from None
    if parts.scheme not in ("http", "https"):
        raise InvalidInput("url must begin with https:// or http://.")
    if "@" in parts.netloc:
        raise InvalidInput("url must not hold a user or a password.")
    if parts.fragment or port == 0:
        raise InvalidInput("url must have no #, and a port from 1 to 65535.")
    if not (_literal(host) or _is_name(host)):
        raise InvalidInput("url names no host.", hint="Write https://example.com/hook.")
    is_secure = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(is_secure, host, port or (443 if is_secure else 80), path)


def _is_name(host: str) -> bool:
    """A name, and no other writing of an IPv4 address, such as 127.1, 2130706433 or 0x7f.0.0.1."""
    last = host.removesuffix(".").rpartition(".")[2]
    return len(host) <= 253 and bool(_HOST.fullmatch(host)) and not _NUMBER.fullmatch(last)


def _may_be_public(host: str) -> bool:
    if literal := _literal(host):
        return is_public(literal)
    name = host.removesuffix(".").lower()
    return name != "localhost" and not name.endswith(".localhost")


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id or address not in _PUBLIC_6:
        return False
    return not any(address in network for network in _NOT_PUBLIC_6)


def allowed(addresses: Sequence[str], *, allow_private: bool) -> list[str]:
    """Those of the numbers of a name that may be connected to, each once."""
    distinct = list(dict.fromkeys(addresses))
    return [each for each in distinct if allow_private or is_public(ip_address(each))]


def masked(url: str) -> str:
    """The address for people: without its path, which opens a chat to whoever has it."""
    target = _parts(url.strip())
    scheme = "https" if target.is_secure else "http"
    if target.path == "/":
        return f"{scheme}://{target.host_header}/"
    ending = target.path[-ENDING:] if len(target.path) >= MASKED_FROM else ""
    return f"{scheme}://{target.host_header}/…{ending}"
