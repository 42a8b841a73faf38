"""The real sqlew 2.0.0 from npm, driven over stdio; this repository contains none of it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests import npm
from tests.timing import PATIENCE_SECONDS

PACKAGE = "@fastmcp-me/mcp-sqlew"
VERSION = "2.0.0"
# npm compiles its SQLite: optimised, that takes four times as long as it is worth here.
UNOPTIMISED = {"CFLAGS": "-O0", "CXXFLAGS": "-O0"}


def installed_program() -> Path:
    """Its entry script. Without npm the test is skipped with a warning."""
    return npm.installed(PACKAGE, VERSION, variables=UNOPTIMISED) / "dist" / "index.js"


@dataclass
class Program:
    """A running sqlew. `call` returns the answer of a tool; raises AssertionError if that is an error."""

    process: subprocess.Popen[str]
    _ids: Iterator[int] = field(default_factory=lambda: count(1))

    def call(self, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        result = self._request("tools/call", {"name": tool, "arguments": {"action": action, **arguments}})
        answer: dict[str, Any] = json.loads(result["content"][0]["text"])
        assert "error" not in answer, answer
        return answer

    def start(self) -> None:
        client = {"name": "tests", "version": "1"}
        self._request(
            "initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client}
        )
        self._send({"method": "notifications/initialized"})

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result; lines that are not JSON-RPC are skipped."""
        request_id = next(self._ids)
        self._send({"id": request_id, "method": method, "params": params})
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("{") and (message := json.loads(line)).get("id") == request_id:
                result: dict[str, Any] = message["result"]
                return result
        raise AssertionError("sqlew has ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


@contextmanager
def running(script: Path, path: Path) -> Iterator[Program]:
    """sqlew on the database at `path`, which it creates; terminated at the end of the block."""
    process = subprocess.Popen(
        ["node", str(script), "--db-path", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    program = Program(process)
    try:
        program.start()
        yield program
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)
