"""An agent of the load: its two connections, and the frame of each call of the model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from benchmarks import texts
from benchmarks.channels import Broken, HttpChannel, McpChannel, RestChannel
from benchmarks.client import Client, Refused, answer_of, result_of
from benchmarks.operations import tool
from benchmarks.seeding_work import path
from benchmarks.sizing.filling import FILES, agent_name, session_values
from benchmarks.sizing.model import USES
from benchmarks.wire import Wire

BY_HOOK = frozenset(use.name for use in USES if use.by_hook)


@dataclass(eq=False)
class Agent:
    """One call at a time. `keys` and `others`: how many decisions and agents its project has."""

    name: str
    rest: RestChannel
    mcp: McpChannel
    keys: int
    others: int
    random: Random
    pad: int = 0
    numbers: "count[int]" = field(default_factory=count)
    leases: list[int] = field(default_factory=list)
    use: str = ""

    def __post_init__(self) -> None:
        self._client = Client(self.mcp, Wire.INITIALIZED)

    @property
    def channel(self) -> HttpChannel:
        """That of the call at work."""
        return self.rest if self.use in BY_HOOK else self.mcp

    def prepare(self) -> None:
        """Make the pad to append to."""
        made = self._client.call(tool("scratchpad", "create_workflow", name=self.name, agent=self.name))
        pad = {"workflow_id": made["workflow_id"], "name": "Log", "content": "# Log"}
        self.pad = self._client.call(tool("scratchpad", "create", agent=self.name, **pad))["scratchpad_id"]

    def send(self, use: str) -> None:
        self.use = use
        if use in BY_HOOK:
            self.rest.send(self.rest.frame(*self._request(), agent=self.name))
        else:
            name, arguments = self._tool()
            params = {"name": name, "arguments": {"agent": self.name, **arguments}}
            self.mcp.send(self._client.frame("tools/call", params))

    def receive(self) -> str | None:
        """Read available bytes; None while the answer is not complete, else what is wrong with it, or ""."""
        try:
            if (body := self.channel.receive()) is None:
                return None
            if self.use in BY_HOOK:
                json.loads(body)
            else:
                answer = answer_of(result_of(body))
                if self.use == "lease":
                    self.leases.append(answer["lease_id"])
        except (Broken, Refused) as error:
            return f"{self.use}: {error}"
        return ""

    def _request(self) -> tuple[str, str, Any]:
        file = path(self.random.randrange(FILES))
        match self.use:
            case "check":
                return "POST", "check/", {"paths": [file], "exact": True}
            case "change":
                return "POST", "changes/", {"path": file, "change": "modified", "exact": True}
            case "access":
                return "POST", "accesses/", {"path": file, "access": "edited", "exact": True}
            case "session":
                return "POST", "sessions/", session_values(next(self.numbers))
        return "GET", "nudge/" if self.use == "nudge" else "messages/", None

    def _tool(self) -> tuple[str, dict[str, Any]]:
        """The name of a tool, and its arguments."""
        random = self.random
        text, known = texts.value(random), texts.key(random.randrange(self.keys))
        place, number = f"new/{self.name}", next(self.numbers)
        to = [agent_name(other) for other in random.sample(range(self.others), 2)]
        lease = {"lease_id": self.leases.pop(0)} if self.use == "release" and self.leases else {"all": True}
        calls: Mapping[str, tuple[str, dict[str, Any]]] = {
            "brief": ("brief", {"task": f"Change {path(random.randrange(FILES))}: {text[:60]}"}),
            "search": ("search", {"query": " ".join(text.split()[:4]), "limit": 10}),
            "get": ("get", {"refs": [f"decision:{known}"]}),
            "list": ("decision", {"action": "list", "tags": [random.choice(texts.TAGS)]}),
            "inbox": ("message", {"action": "inbox"}),
            "lease": ("file", {"action": "lease", "paths": [f"{place}/{number}.py"], "minutes": 60}),
            "release": ("file", {"action": "release", **lease}),
            "decision": ("decision", {"action": "set", "key": known, "value": text}),
            "memory": ("memory", {"action": "add", "title": f"{place} {number}", "content": text}),
            "message": ("message", {"action": "send", "text": text, "to": to}),
            "append": ("scratchpad", {"action": "append", "scratchpad_id": self.pad, "content": text}),
        }
        return calls[self.use]
