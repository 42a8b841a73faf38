"""Asks the hub over one connection, also what it answers only after a while."""

from __future__ import annotations

import json
import time

from ctxhub_client.bridge.connections import Connections, NotReached
from ctxhub_client.hub import MOST_ANSWER_BYTES, Hub
from ctxhub_client.process import log
from ctxhub_client.settings import access_token, stored_token, use_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse
    from typing import Any

    from ctxhub_client.values import Json
    from ctxhub_client.watching.ending import Meanwhile

ANSWER_SECONDS = 15.0


class Away(Exception):
    """The hub does not answer, or not as it should."""


class Refused(Exception):
    """The hub refuses the token."""


class Line(Connections):
    """The one connection. The hub may have closed it while nothing was asked."""

    def __init__(self, url: str) -> None:
        super().__init__(url, "")

    def taken(self) -> tuple[HTTPConnection, bool]:
        """And whether it was used before."""
        kept = self._taken()
        return (kept, True) if kept else (self._opened(), False)

    def ask(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None, headers: Json
    ) -> None:
        connection.request(method, self.target + path, body, dict(headers, **self._proxy_headers))

    def keep(self, connection: HTTPConnection, answer: HTTPResponse) -> None:
        self._keep(connection, answer)


class Asker(Hub):
    def __init__(self, client: str, session: str) -> None:
        super().__init__(client, session, ignores_pause=True)
        self.meanwhile: Meanwhile | None = None
        self._line = None if self.is_down else Line(self.url)
        # How long an answer may take, beyond what it is asked to wait for.
        self._seconds = ANSWER_SECONDS

    def ask(self, path: str, /, **query: object) -> Json:
        """The answer. Raises Away and Refused."""
        self._seconds = ANSWER_SECONDS + float(str(query.get("wait_seconds", 0)))
        found = self.get(path, **query)
        if found is not None:
            return found
        if self.status == 401 and not self._has_other_token():
            raise Refused
        raise Away("HTTP {}".format(self.status) if self.status else "it does not answer")

    def ask_if_known(self, path: str, /, **query: object) -> Json:
        """The same; {} where a hub of an earlier version does not know this, or the token may not ask it."""
        try:
            return self.ask(path, **query)
        except Away:
            if self.status not in (400, 403, 404):
                raise
            return {}

    def _has_other_token(self) -> bool:
        """Whether another process has stored a new one meanwhile, which is used from now on."""
        old = stored_token()
        if old is None:
            return False
        from ctxhub_client.access.credentials import matching

        for each in matching(old.hub, old.project, old.agent, old.client):
            if each.token != old.token:
                use_token(each)
                self.token = access_token()
                raise Away("its token was replaced")
        return False

    def _send(self, method: str, path: str, body: Json | None, accept: str) -> tuple[int, str, bytes] | None:
        self.status = 0
        if self._line is None:
            return None
        # Not before there is a connection, which decides whether it loads OpenSSL.
        from http.client import HTTPException

        try:
            return self._exchange(method, path, body, accept)
        except (OSError, HTTPException, NotReached) as error:
            log(method, path, "->", type(error).__name__, error)
            return None

    def _exchange(
        self, method: str, path: str, body: Json | None, accept: str
    ) -> tuple[int, str, bytes] | None:
        assert self._line is not None
        data = None if body is None else json.dumps(body).encode()
        connection, was_used = self._line.taken()
        try:
            self._line.ask(connection, method, path, data, self._headers(accept))
            answer = self._answer(connection)
        except BaseException as error:
            connection.close()
            # Closed between two requests.
            if was_used and isinstance(error, ConnectionError):
                return self._exchange(method, path, body, accept)
            raise
        content = answer.read(MOST_ANSWER_BYTES + 1)
        self.status = answer.status
        log(method, path, "->", answer.status, len(content), "bytes")
        if len(content) > MOST_ANSWER_BYTES:
            connection.close()
            self.status = 0
            return None
        self._line.keep(connection, answer)
        return answer.status, (answer.getheader("Content-Type") or "").lower(), content

    def _answer(self, connection: Any) -> HTTPResponse:
        until = time.monotonic() + self._seconds
        if self.meanwhile and not self.meanwhile.until_readable(connection.sock, self._seconds):
            raise TimeoutError("no answer")
        # With TLS something may be readable long before the answer is.
        connection.sock.settimeout(max(ANSWER_SECONDS, until - time.monotonic()))
        found: HTTPResponse = connection.getresponse()
        return found
