"""A real hub on a real port for tests, and its clients: JSON-RPC for MCP, JSON for REST."""

import http.client
import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import uvicorn

from tests.timing import PATIENCE_SECONDS

# Over REST a POST answers with the whole object, too.
WHOLE = {"Prefer": "return=representation"}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class HttpClient:
    """One persistent connection; use one client for each thread."""

    port: int
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    _connection: http.client.HTTPConnection | None = None

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        """Send `body` (bytes as they are, anything else as JSON) and read the whole answer."""
        self._connection = self._connection or http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=8 * PATIENCE_SECONDS
        )
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self.headers,
        }
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self._connection.request(method, path, body=data, headers={**sent, **(headers or {})})
        response = self._connection.getresponse()
        told = {k.lower(): v for k, v in response.getheaders()}
        return Reply(response.status, told, _without_id(_decoded(response.read()), told.get("x-request-id")))


@dataclass
class McpClient(HttpClient):
    """Tools over streamable HTTP, as raw JSON-RPC. `call` returns the decoded text block, also of errors."""

    path: str = "/mcp"
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def rpc(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params or {}}
        reply = self.send("POST", self.path, message)
        assert reply.status == 200, reply
        body: dict[str, Any] = reply.body
        return body

    def result(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The whole tool result: content, isError, _meta, structuredContent."""
        params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        result: dict[str, Any] = self.rpc("tools/call", params)["result"]
        return result

    def call(self, tool: str, action: str | None = None, /, **arguments: Any) -> dict[str, Any]:
        named = {"action": action, **arguments} if action else arguments
        answer: dict[str, Any] = json.loads(self.result(tool, named)["content"][0]["text"])
        return answer

    def rows(self, tool: str, action: str | None = None, /, **arguments: Any) -> list[dict[str, Any]]:
        """The rows of a list as objects."""
        answer = self.call(tool, action, **arguments)
        return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]

    def tools(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.rpc("tools/list")["result"]["tools"]
        return found


@dataclass
class RestClient(HttpClient):
    """REST below one project: paths are relative to /api/v1/projects/{project}/."""

    project: str = ""

    def get(self, path: str, /, **query: Any) -> Reply:
        return self.send("GET", self._url(path, query))

    def post(self, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        return self.send("POST", self._url(path), {} if body is None else body, headers)

    def put(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Reply:
        return self.send("PUT", self._url(path), body, headers)

    def patch(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Reply:
        return self.send("PATCH", self._url(path), body, headers)

    def delete(self, path: str, headers: dict[str, str] | None = None) -> Reply:
        return self.send("DELETE", self._url(path), None, headers)

    def _url(self, path: str, query: dict[str, Any] | None = None) -> str:
        url = path if path.startswith("/") else f"/api/v1/projects/{self.project}/{path}"
        return f"{url}?{urlencode(query, doseq=True)}" if query else url


@dataclass(frozen=True)
class LiveHub:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def http(self, token: str | None = None) -> HttpClient:
        return HttpClient(self.port, token)

    def mcp(self, token: str | None = None, **headers: str) -> McpClient:
        return McpClient(self.port, token, headers)

    def rest(self, token: str | None = None, project: str = "apollo") -> RestClient:
        return RestClient(self.port, token, project=project)


@contextmanager
def running_hub() -> Iterator[LiveHub]:
    """The ASGI application of production in a thread of this process."""
    from ctxhub.mcp.connections import LimitedProtocol
    from ctxhub.mcp.django_handler import DjangoHandler
    from ctxhub.mcp.http import Dispatcher
    from ctxhub.metrics.counting import begin_counting

    begin_counting()
    # asyncio disables Nagle's algorithm (40 ms per answer) only if the protocol is given.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        app = Dispatcher(DjangoHandler().answer, runs_tasks=False)
        config = uvicorn.Config(app, http=LimitedProtocol, proxy_headers=False, log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield LiveHub(port)
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)


def _without_id(body: Any, told: str | None) -> Any:
    """A body without the id of its request, which is that of the header, so that tests compare the rest."""
    if isinstance(body, list):
        return [_without_id(each, told) for each in body]
    if not isinstance(body, dict):
        return body
    error, result = body.get("error"), body.get("result")
    places = (
        (body if isinstance(error, str) else None, "request_id"),
        (error.get("data") if isinstance(error, dict) else None, "request_id"),
        (result.get("_meta") if isinstance(result, dict) else None, "ctxhub/http_request_id"),
    )
    for place, name in places:
        if isinstance(place, dict):
            assert place.pop(name, told) == told
    if isinstance(error, dict) and error.get("data") == {}:
        del error["data"]
    return body


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
