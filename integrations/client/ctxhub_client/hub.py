"""The REST API of one project of a hub."""

from __future__ import annotations

import json
import re
import time

from ctxhub_client.process import log, remaining_seconds
from ctxhub_client.settings import access_token, address_problem, agent_name, hub_address, token_problem
from ctxhub_client.store import Store, digest
from ctxhub_client.texts import printable
from ctxhub_client.values import number_of, read_json, text_of
from ctxhub_client.version import user_agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ctxhub_client.values import Json

SILENCE_SECONDS = 2.0

# After a silence the hub is not asked again for this long, so that not every edit waits for it.
PAUSE_SECONDS = 30

PROJECT_CACHED_SECONDS = 3_600
MOST_ANSWER_BYTES = 1_000_000
# Of one request.
MOST_PATHS = 50

# Paths come from git and the file system: nothing in them is a mark around a name.
EXACT = {"exact": True}

TRUST = (
    "If the certificate is of an authority of your own, name its file in your shell's profile:"
    " export SSL_CERT_FILE=/path/to/authority.pem."
)


class Hub:
    """REST of one project, over one connection. Whatever fails is answered with None, and logged.

    Redirects are not followed: the token goes to CTXHUB_URL alone.
    """

    def __init__(self, client: str, session: str = "", ignores_pause: bool = False) -> None:
        self.url = hub_address()
        self.token = access_token()
        self.agent = agent_name()
        self.client = client
        self.session = session
        self.store = Store()
        self.file = "hub-{}.json".format(digest(self.url, self.token, self.agent or client))
        self.known = self.store.read(self.file)
        # The agent that requests name; "" for the token's.
        self.speaker = ""
        # Before that is known: the name that the hub may take or leave.
        self.introduced = ""
        self.connection: Any = None
        self.prefix = ""
        # Of the last answer; 0 if there was none.
        self.status = 0
        self.is_unset = not self.token or self.token.startswith("${")
        self.problem = "" if self.is_unset else address_problem(self.url) or token_problem(self.token)
        self.is_down = self.is_unset
        if self.is_unset:
            log("CTXHUB_TOKEN is not set")
        elif self.problem:
            log(self.problem)
            self.is_down = True
        elif not ignores_pause and self._pauses():
            log("the hub did not answer a moment ago; not asked")
            self.is_down = True

    def get(self, path: str, /, **query: object) -> Json | None:
        return self._json(self._in_project("GET", path, query))

    def post(self, path: str, body: Json) -> Json | None:
        return self._json(self._in_project("POST", path, {}, body))

    def get_text(self, path: str, /, **query: object) -> str:
        """A text for a model, without characters that do not print; "" if there is none."""
        found = self._in_project("GET", path, dict(query, format="text"), accept="text/plain")
        if found is None or found[0] != 200 or not found[1].startswith("text/plain"):
            return ""
        return printable(found[2].decode("utf-8", "replace").replace("\r\n", "\n"), keep="\n").strip()

    def served_version(self) -> str:
        """Which version of this program the hub serves; "" if it serves none."""
        if self.is_down:
            return ""
        try:
            connection = self._connected()
            connection.request("HEAD", self.prefix + "/connect/ctxhub.pyz", headers=self._headers("*/*"))
            answer = connection.getresponse()
            answer.read()
        except Exception as error:
            log("HEAD", type(error).__name__, error)
            return ""
        return str(answer.getheader("Ctxhub-Client-Version") or "")

    def _json(self, found: tuple[int, str, bytes] | None) -> Json | None:
        if found is None or found[0] not in (200, 201, 204):
            return None
        return read_json(found[2]) if found[2] else {}

    def _in_project(
        self,
        method: str,
        path: str,
        query: Json,
        body: Json | None = None,
        accept: str = "application/json",
    ) -> tuple[int, str, bytes] | None:
        self.status = 0
        project = "" if self.is_down else self._project()
        if not project:
            return None
        from urllib.parse import quote, urlencode

        url = "/api/v1/projects/{}/{}".format(quote(project, safe=""), path)
        found = self._send(method, url + ("?" + urlencode(query) if query else ""), body, accept)
        if found is not None and found[0] == 404:
            self._remember(at=0)
        said = query if body is None else body
        if found is not None and found[0] == 400 and b"exact" in found[2] and said.pop("exact", None):
            # A hub of an earlier version, which takes every path as it is written.
            return self._in_project(method, path, query, body, accept)
        return found

    def _project(self) -> str:
        """The slug of the token's project; what the hub says of the token is asked for once an hour."""
        is_fresh = 0 <= time.time() - number_of(self.known, "at") < PROJECT_CACHED_SECONDS
        slug = text_of(self.known, "project")
        if slug and is_fresh and "speaker" in self.known:
            self.speaker = text_of(self.known, "speaker")
            return slug
        me, name = self.me()
        slug = text_of(me, "project")[:200]
        pinned = me.get("pinned")
        # A hub that does not say whether a token is pinned is told only a name that somebody chose.
        self.speaker = "" if pinned is True or (pinned is not False and not self.agent) else name
        if slug:
            at, agent = time.time(), text_of(me, "agent")
            self._remember(project=slug, agent=agent, speaker=self.speaker, at=at)
        return slug

    def me(self) -> tuple[Json, str]:
        """What the hub says of the token, and the agent that it may speak as; "" if the hub refuses that."""
        self.speaker, name = "", self.agent or self.client
        self.introduced = name
        answer = self._send("GET", "/api/v1/me/", None, "application/json")
        self.introduced = ""
        if self.status == 403 and name:
            name = ""
            answer = self._send("GET", "/api/v1/me/", None, "application/json")
        return self._json(answer) or {}, name

    def _remember(self, **values: object) -> None:
        self.known = dict(self.known, **values)
        self.store.write(self.file, self.known)

    def _pauses(self) -> bool:
        return 0 <= time.time() - number_of(self.known, "silent_at") < PAUSE_SECONDS

    def _send(self, method: str, path: str, body: Json | None, accept: str) -> tuple[int, str, bytes] | None:
        """Status, media type and body of an answer."""
        self.status = 0
        if self.is_down:
            return None
        try:
            return self._exchange(method, path, body, accept)
        except Exception as error:
            self.is_down = True
            log(method, path, "->", type(error).__name__, error)
            # An error of socket with this name is the builtin TimeoutError only since Python 3.10.
            if isinstance(error, TimeoutError) or type(error).__name__ == "timeout":
                self._remember(silent_at=time.time())
            return None

    def _exchange(
        self, method: str, path: str, body: Json | None, accept: str
    ) -> tuple[int, str, bytes] | None:
        data = None if body is None else json.dumps(body).encode()
        connection = self._connected()
        connection.request(method, self.prefix + path, body=data, headers=self._headers(accept))
        answer = connection.getresponse()
        content = answer.read(MOST_ANSWER_BYTES + 1)
        self.status = answer.status
        log(method, path, "->", answer.status, len(content), "bytes")
        if len(content) > MOST_ANSWER_BYTES:
            self.is_down = True
            return None
        return answer.status, (answer.getheader("Content-Type") or "").lower(), content

    def _connected(self) -> Any:
        if self.connection is not None:
            return self.connection
        timeout = max(0.1, min(SILENCE_SECONDS, remaining_seconds()))
        self.connection, self.prefix = open_connection(self.url, timeout)
        return self.connection

    def _headers(self, accept: str) -> dict[str, Any]:
        headers: dict[str, Any] = {
            "Authorization": "Bearer " + self.token,
            "Accept": accept,
            "Content-Type": "application/json",
            "User-Agent": user_agent(),
        }
        if self.speaker:
            headers["Ctxhub-Agent"] = self.speaker.encode()
        if self.introduced:
            headers["Ctxhub-Client"] = self.introduced.encode()
        if self.session:
            headers["Ctxhub-Session"] = self.session
        return headers


def how_to_trust(error: Exception) -> str:
    """What to do where Python does not trust the hub's certificate; "" for another error."""
    return TRUST if type(error).__name__ == "SSLCertVerificationError" else ""


def open_connection(url: str, seconds: float) -> tuple[Any, str]:
    """A connection to a hub, and the path below which it is served."""
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    prefix = re.sub(r"(/mcp|/api/v1)?/*$", "", parts.path)
    return kind(parts.hostname or "", parts.port, timeout=seconds), prefix
