"""`manage.py runmcp` in a process of its own on the database of the tests, and its client over stdio."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp.requests import Surface
from ctxhub.mcp.stdio import StdioServer
from tests.preloaded import Forked
from tests.timing import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parent.parent
LEGACY = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


def database_url() -> str:
    """The DATABASE_URL of the database of the tests."""
    at = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{at['NAME']}"
    who = quote(at["USER"]) + (f":{quote(at['PASSWORD'])}" if at["PASSWORD"] else "")
    port = f":{at['PORT']}" if at["PORT"] else ""
    patience = f"?connect_timeout={at['OPTIONS']['connect_timeout']}"
    return f"postgres://{who}@{quote(at['HOST'], safe='')}{port}/{at['NAME']}{patience}"


def environment() -> dict[str, str]:
    """The environment that a client passes on: almost nothing but the settings of the hub."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "DATABASE_URL": database_url(),
        "CTXHUB_VAR_DIR": str(settings.VAR_DIR),
        "CTXHUB_SECRET_KEY": settings.SECRET_KEY,
    }


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), "runmcp", *arguments]


@dataclass
class StdioClient:
    """The client at the other end of the pipes: one JSON-RPC message per line."""

    process: "subprocess.Popen[bytes]"
    _ids: Iterator[int] = field(default_factory=lambda: count(1))
    _buffer: bytes = b""

    def write(self, line: bytes) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        pipe.write(line + b"\n")
        pipe.flush()

    def notify(self, method: str) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method}).encode())

    def read(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The JSON-RPC message in the next line."""
        line = self.read_line(seconds)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        return message

    def read_line(self, seconds: float = PATIENCE_SECONDS) -> bytes:
        pipe = self.process.stdout
        assert pipe is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"no answer in {seconds} s"
            chunk = os.read(pipe.fileno(), 1 << 20)
            assert chunk, f"the server ended: {self.errors()}"
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        request_id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode())
        answer = self.read()
        assert answer["id"] == request_id, answer
        return answer

    def start(self) -> dict[str, Any]:
        """The handshake of the earlier era of the protocol."""
        answer: dict[str, Any] = self.request("initialize", LEGACY)["result"]
        self.notify("notifications/initialized")
        return answer

    def result(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        return answer

    def call(self, tool: str, action: str | None = None, /, **arguments: Any) -> dict[str, Any]:
        named = {"action": action, **arguments} if action else arguments
        answer: dict[str, Any] = json.loads(self.result(tool, named)["content"][0]["text"])
        return answer

    def tools(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.request("tools/list")["result"]["tools"]
        return found

    def errors(self) -> str:
        pipe = self.process.stderr
        assert pipe is not None
        return pipe.read().decode(errors="replace") if self.process.poll() is not None else "still running"

    def finish(self) -> tuple[bytes, bytes, int]:
        """Close stdin and wait: the remaining output, the text on stderr and the exit code."""
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self._buffer + out, err, self.process.returncode


@contextmanager
def stdio_hub(
    *arguments: str,
    code: Sequence[str] = (),
    stdin: IO[Any] | int = subprocess.PIPE,
    variables: Mapping[str, str] | None = None,
    is_fork: bool = True,
) -> Iterator[StdioClient]:
    """A running server; `code` is Python that runs inside it before it serves, `variables` its client's.

    A fork has loaded more modules than a server that starts by itself.
    """
    script = "\n".join([PATH, *code, RUN])
    start: Callable[..., Any] = partial(Forked, ["-c", *arguments], script=script)
    if not is_fork:
        start = partial(subprocess.Popen, [sys.executable, "-c", script, *arguments])
    pipes: dict[str, Any] = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    own = {**environment(), "CTXHUB_WEB": "false", **(variables or {})}
    with start(cwd="/", env=own, **pipes) as process:
        try:
            yield StdioClient(process)
        finally:
            process.kill()


def answered(caller: Caller, lines: Iterable[str], folder: Path) -> list[dict[str, Any]]:
    """All that a connection answers to the lines, in this thread."""
    return answered_bytes(caller, (line.encode() for line in lines), folder)


def answered_bytes(caller: Caller, lines: Iterable[bytes], folder: Path) -> list[dict[str, Any]]:
    """The same for lines that may be no text in UTF-8."""
    sent, written = folder / "sent", folder / "written"
    sent.write_bytes(b"".join(line + b"\n" for line in lines))
    with sent.open("rb") as source, written.open("wb") as sink:
        StdioServer(source.fileno(), sink.fileno(), caller, Surface()).serve()
    return [json.loads(line) for line in written.read_bytes().splitlines()]


PATH = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
RUN = f"""
import runpy
sys.argv = ["manage.py", "runmcp", *sys.argv[1:]]
runpy.run_path({str(ROOT / "manage.py")!r}, run_name="__main__")
"""
