"""The real sqlew 2.0.0 from npm, driven over stdio; this repository contains none of it."""

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.timing import PATIENCE_SECONDS

PACKAGE = "@fastmcp-me/mcp-sqlew"
VERSION = "2.0.0"
SECONDS_TO_INSTALL = 240
# npm compiles its SQLite: optimised, that takes four times as long as it is worth here.
UNOPTIMISED = {"CFLAGS": "-O0", "CXXFLAGS": "-O0"}


def installed_program() -> Path:
    """Its entry script. Installed once for each user; without npm the test is skipped with a warning."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "ctxhub-tests" / f"sqlew-{VERSION}"
    if not shutil.which("node") or not shutil.which("npm"):
        _skip("node and npm are not installed")
    if not folder.exists():
        _install(folder)
    return folder / "node_modules" / PACKAGE / "dist" / "index.js"


def _install(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", temporary, f"{PACKAGE}@{VERSION}"]
        try:
            subprocess.run(
                command,
                env={**os.environ, **UNOPTIMISED},
                capture_output=True,
                text=True,
                timeout=SECONDS_TO_INSTALL,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            _skip(f"npm install failed: {error.stderr[-500:]}")
        except subprocess.TimeoutExpired:
            _skip(f"npm install took more than {SECONDS_TO_INSTALL} s")
        (Path(temporary) / "node_modules").rename(_made(folder) / "node_modules")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _skip(why: str) -> None:
    warnings.warn(f"Not tried against the real sqlew, only against its schema: {why}", stacklevel=3)
    pytest.skip(f"the real sqlew cannot be had: {why}")


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
