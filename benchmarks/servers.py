"""The measured processes of the hub, and their CPU time and memory."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import psutil

from benchmarks.channels import Broken, HttpChannel, McpChannel, PipeChannel, RestChannel
from benchmarks.client import Client
from benchmarks.databases import Hub
from benchmarks.wire import Wire, opening

ChannelT = TypeVar("ChannelT", bound=HttpChannel)

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
STOP_SECONDS = 10
MIB = 1024 * 1024


class Transport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"


@dataclass
class Server:
    """One process. `port` is 0 for stdio."""

    process: subprocess.Popen[bytes]
    hub: Hub
    log: Path
    port: int = 0
    usage: psutil.Process = field(init=False)

    def __post_init__(self) -> None:
        self.usage = psutil.Process(self.process.pid)

    @property
    def cpu_seconds(self) -> float:
        times = [process.cpu_times() for process in self._processes()]
        return sum(time.user + time.system for time in times)

    @property
    def rss_mib(self) -> float:
        return sum(process.memory_info().rss for process in self._processes()) / MIB

    @property
    def peak_mib(self) -> float:
        """The most memory that its processes had, each at its time; Linux alone tells it."""
        files = [Path(f"/proc/{process.pid}/status") for process in self._processes()]
        lines = [line for file in files for line in file.read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    def _processes(self) -> list[psutil.Process]:
        """The process and its workers."""
        return [self.usage, *self.usage.children(recursive=True)]

    def connect(self, wire: Wire) -> Client:
        """Connect a client; waits until an HTTP server listens. A stdio server has only one client."""
        client = Client(self.connect_mcp(wire) if self.port else PipeChannel(self.process), wire)
        if not self.port and wire is Wire.INITIALIZED:
            for message in opening():
                client.channel.send(client.channel.frame(message))
            while client.channel.receive() is None:
                pass
        return client

    def connect_rest(self) -> RestChannel:
        return self._listening(lambda: RestChannel(self.port, self.hub.token, self.hub.project))

    def connect_mcp(self, wire: Wire) -> McpChannel:
        return self._listening(lambda: McpChannel(self.port, self.hub.token, wire))

    def _listening(self, connect: Callable[[], ChannelT]) -> ChannelT:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return connect()
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Broken(f"The server did not start:\n{self.log.read_text()[-2000:]}") from None
                time.sleep(0.002)


@contextmanager
def running(
    hub: Hub, transport: Transport, *, agent: str = "bench", options: Sequence[str] = ()
) -> Iterator[Server]:
    """A server of `hub`, which runs until the end of the block."""
    command = [sys.executable, "manage.py", "runmcp", "--project", hub.project, *options]
    pipe = subprocess.PIPE if transport is Transport.STDIO else subprocess.DEVNULL
    port = free_port() if transport is Transport.HTTP else 0
    command += ["--http", "--port", str(port)] if port else ["--agent", agent]
    log = hub.home / f"server-{port or agent}.log"
    yield from _started(command, hub, log, port, pipe)


@contextmanager
def serving(hub: Hub, *, workers: int = 1, port: int = 0) -> Iterator[Server]:
    """REST and MCP of `hub` by `manage.py serve`, until the end of the block. `port` 0: any."""
    port = port or free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", str(workers)]
    yield from _started(command, hub, hub.home / f"server-{port}.log", port, subprocess.DEVNULL)


def _started(command: Sequence[str], hub: Hub, log: Path, port: int, pipe: int) -> Iterator[Server]:
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, env=hub.environment, stdin=pipe, stdout=pipe, stderr=errors
        )
    try:
        yield Server(process, hub, log, port)
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe and not pipe.closed:
            pipe.close()
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
