"""The same operations over both faces: each as a frame of bytes, and the check of its answer."""

import json
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from benchmarks import seeding
from benchmarks.channels import HttpChannel, McpChannel, RestChannel
from benchmarks.client import Client, answer_of, result_of
from benchmarks.operations import Context, new_decision, tool
from benchmarks.servers import Server
from benchmarks.texts import value
from benchmarks.wire import Wire

OPERATIONS = ("set", "get", "update", "list", "set", "search")
SHARED_KEY = "written/by/all"
SEARCHED = "cache tenant revision"


class Face(Protocol):
    """`answer` is that of the hub; it raises Refused or NotDone for an error."""

    name: str

    @property
    def channel(self) -> HttpChannel: ...
    def frame(self, operation: str) -> bytes: ...
    def answer(self, body: bytes) -> dict[str, Any]: ...


@dataclass
class Rest:
    channel: RestChannel
    agent: str
    context: Context
    name: str = "REST"

    def frame(self, operation: str) -> bytes:
        match operation:
            case "set" | "update" | "same":
                return self._frame("POST", "decisions/", _decision(operation, self.agent, self.context))
            case "get":
                return self._frame("GET", f"decisions/{self.context.known_key()}/")
            case "list":
                return self._frame("GET", f"decisions/?{urlencode({'tags': seeding.RARE_TAG})}")
        return self._frame("GET", f"search/?{urlencode({'query': SEARCHED, 'limit': 10})}")

    def answer(self, body: bytes) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(body)
        return answer

    def _frame(self, method: str, path: str, body: Any = None) -> bytes:
        return self.channel.frame(method, path, body, agent=self.agent)


@dataclass
class Mcp:
    channel: McpChannel
    client: Client
    agent: str
    context: Context
    name: str = "MCP"

    def frame(self, operation: str) -> bytes:
        return self.client.frame("tools/call", self._params(operation))

    def answer(self, body: bytes) -> dict[str, Any]:
        return answer_of(result_of(body))

    def _params(self, operation: str) -> dict[str, Any]:
        match operation:
            case "set" | "update" | "same":
                decision = _decision(operation, self.agent, self.context)
                return tool("decision", "set", agent=self.agent, **decision)
            case "get":
                return tool("decision", "get", agent=self.agent, key=self.context.known_key())
            case "list":
                return tool("decision", "list", agent=self.agent, tags=[seeding.RARE_TAG])
        return tool("search", agent=self.agent, query=SEARCHED, limit=10)


def connect_faces(server: Server, clients: int, size: int) -> list[Face]:
    """Clients that speak MCP and REST in turns."""
    return [_connect(server, number, Context(size)) for number in range(clients)]


def _connect(server: Server, number: int, context: Context) -> Face:
    agent = f"mixed-{number}"
    context.random.seed(number)
    if number % 2:
        return Rest(server.connect_rest(), agent, context)
    client = server.connect(Wire.INITIALIZED)
    assert isinstance(client.channel, McpChannel)
    return Mcp(client.channel, client, agent, context)


def _decision(operation: str, agent: str, context: Context) -> dict[str, Any]:
    """A new decision of the agent, or a new value for one that all agents know, or for the one all write."""
    if operation != "set":
        key = SHARED_KEY if operation == "same" else context.known_key()
        return {"key": key, "value": value(context.random)}
    made = new_decision(context)
    return {**made, "key": f"{agent}/{made['key']}"}
