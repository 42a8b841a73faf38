"""Posts a body to a checked address, and tells what came of it, and when to try again."""

import io
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import Any

from django.conf import settings

from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.secrets import mask_secrets
from ctxhub.core.webhooks.addresses import NOT_PUBLIC, Target, allowed

# These say "later", the other 4xx "never".
LATER = (408, 425, 429)


@frozen
class Outcome:
    """`code` and `answer` (its first KiB) of the receiver, or the `problem` instead of them or with them.

    `retry_after`: how long the receiver asks to wait.
    """

    code: int | None = None
    answer: str = ""
    problem: str = ""
    retry_after: timedelta | None = None

    @property
    def is_delivered(self) -> bool:
        return self.code is not None and 200 <= self.code < 300

    @property
    def is_final(self) -> bool:
        """Whether the receiver will never take it."""
        return self.code is not None and 400 <= self.code < 500 and self.code not in LATER


def read_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """The header Retry-After, seconds or a date; None if there is none that can be read."""
    text = (value or "").strip()
    try:
        if text.replace(".", "", 1).isdecimal() and text.isascii():
            return timedelta(seconds=min(float(text), 10**7))
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) - now


# Between the tries: at once, then after these.
PAUSES = (
    timedelta(seconds=10),
    timedelta(minutes=1),
    timedelta(minutes=10),
    timedelta(hours=1),
)
MOST_TRIES = len(PAUSES) + 1
# The longest that a receiver may ask for.
LONGEST_PAUSE = timedelta(days=1)
SHORTEST_PAUSE = timedelta(seconds=1)
# The receiver asks for less: it is there, and says itself when it takes the next one.
TOO_MANY = 429


def next_try(outcome: Outcome, tries: int, now: datetime) -> datetime | None:
    """When to try again after so many tries; None: give it up."""
    if outcome.is_final or tries >= MOST_TRIES:
        return None
    pause = PAUSES[tries - 1]
    if outcome.retry_after is None:
        return now + pause
    asked = min(max(outcome.retry_after, SHORTEST_PAUSE), LONGEST_PAUSE)
    return now + (asked if outcome.code == TOO_MANY else max(asked, pause))


SECONDS = 5.0
# The next address of a name is tried where one is silent.
SECONDS_TO_CONNECT = 2.0
ANSWER_BYTES = 1024
PATH_IS_SECRET_FROM = 8
REDIRECTED = "It leads elsewhere, and redirects are not followed."


class CannotReach(Exception):
    """The name leads nowhere, or nowhere that is allowed."""


def find_addresses(target: Target) -> list[str]:
    """The numbers of the host that may be connected to. Raises CannotReach. The resolver may take long."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CannotReach("The name of the host is not known.") from None
    addresses = allowed([str(address[0]) for *_, address in found], allow_private=settings.WEBHOOK_PRIVATE)
    if not addresses:
        raise CannotReach(f"The address {NOT_PUBLIC}.")
    return addresses


def post(target: Target, addresses: Sequence[str], headers: Mapping[str, str], body: bytes) -> Outcome:
    """Send the body to the first of the addresses that answers. Never fails."""
    until = monotonic() + SECONDS
    try:
        with _connected(target, addresses, until) as connection:
            connection.settimeout(_left(until))
            connection.sendall(_request(target, headers, body))
            return _outcome(connection, until, target)
    except TimeoutError:
        return Outcome(problem=f"No answer within {SECONDS:.0f} s.")
    except ssl.SSLCertVerificationError as error:
        return Outcome(
            problem=f"The certificate is not valid: {getattr(error, 'verify_message', error)}"[:300]
        )
    except (OSError, HTTPException, ValueError) as error:
        return Outcome(problem=f"{type(error).__name__}: {error}"[:300])


@contextmanager
def _connected(target: Target, addresses: Sequence[str], until: float) -> Iterator[socket.socket]:
    """A connection to one of the addresses; with TLS to whom the certificate names as the host."""
    plain = _connect(target.port, addresses, until)
    with plain:
        if not target.is_secure:
            yield plain
            return
        plain.settimeout(_left(until))
        with _tls().wrap_socket(plain, server_hostname=target.host) as secure:
            yield secure


def _connect(port: int, addresses: Sequence[str], until: float) -> socket.socket:
    *others, last = addresses
    for address in others:
        try:
            return socket.create_connection((address, port), min(_left(until), SECONDS_TO_CONNECT))
        except OSError:
            continue
    return socket.create_connection((last, port), _left(until))


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    fixed = {
        "Host": target.host_header,
        "User-Agent": "ctxhub-webhook/1",
        "Accept": "*/*",
        "Connection": "close",
        "Content-Length": str(len(body)),
    }
    lines = [
        f"POST {target.path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in (fixed | {**headers}).items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", errors="replace") + body


def _outcome(connection: socket.socket, until: float, target: Target) -> Outcome:
    response = HTTPResponse(_Answering(connection, until), method="POST")  # type: ignore[arg-type]
    response.begin()
    try:
        answer = response.read(ANSWER_BYTES)
    except (OSError, HTTPException, ValueError):
        answer = b""  # What it said of itself is known.
    text, _ = mask_secrets(answer.decode(errors="replace").replace("\0", ""))
    if len(target.path) >= PATH_IS_SECRET_FROM:  # Error pages repeat what was asked for.
        text = text.replace(target.path, "/…")
    wait = read_retry_after(response.getheader("Retry-After"), clock.now())
    problem = REDIRECTED if 300 <= response.status < 400 else ""
    return Outcome(code=response.status, answer=text, problem=problem, retry_after=wait)


class _Answering:
    """A socket as HTTPResponse wants one. All of the answer has one deadline, however slowly it comes."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._reader = _Reader(connection, until)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(self._reader)


class _Reader(io.RawIOBase):
    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection, self._until = connection, until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_left(self._until))
        return self._connection.recv_into(buffer)


def _left(until: float) -> float:
    """The seconds that are left. Raises TimeoutError if none are."""
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    return left
