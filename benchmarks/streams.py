"""Event streams of one hub: their memory, and how soon all of them have told of a write.

python -m benchmarks.streams [--streams 200] [--writes 50] [--engine postgres]
                             [--decisions 30000] [--replayed]
"""

import argparse
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

from benchmarks import machine
from benchmarks.client import Client
from benchmarks.databases import Engine, Hub, databases
from benchmarks.operations import tool
from benchmarks.servers import ROOT, Server, serving
from benchmarks.wire import Wire

PATIENCE_SECONDS = 300.0
STREAMS_OF_A_TOKEN = 20
SECONDS_AT_REST = 5.0


class Streams:
    """Many open streams, read by one thread."""

    def __init__(
        self, server: Server, tokens: Sequence[str], count: int, *, are_replayed: bool = False
    ) -> None:
        """`are_replayed`: each begins with the oldest events, until the hub tells it to read anew."""
        self._selector = selectors.DefaultSelector()
        self._ends: dict[object, bytes] = {}
        query = "agent=reader&since=e0" if are_replayed else "agent=reader"
        for number in range(count):
            self._open(server, tokens[number // STREAMS_OF_A_TOKEN], query)
        self._arrivals(b"event: reset" if are_replayed else b"retry: ")

    def _open(self, server: Server, token: str, query: str) -> None:
        each = socket.create_connection(("127.0.0.1", server.port))
        path = f"/api/v1/projects/{server.hub.project}/events/?{query}"
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", "", ""]
        each.sendall("\r\n".join(lines).encode())
        self._selector.register(each, selectors.EVENT_READ)

    def arrivals(self, ref: str) -> list[float]:
        """When each stream told of this ref, the first one first."""
        return self._arrivals(f'"{ref}"'.encode())

    def _arrivals(self, what: bytes) -> list[float]:
        times: list[float] = []
        self._ends.clear()
        missing = len(self._selector.get_map())
        deadline = time.perf_counter() + PATIENCE_SECONDS
        while len(times) < missing:
            if time.perf_counter() > deadline:
                raise SystemExit(f"{missing - len(times)} streams did not tell of {what.decode()}.")
            for key, _ in self._selector.select(1.0):
                times += [time.perf_counter()] if self._has_come(what, key.fileobj) else []
        return times

    def _has_come(self, what: bytes, stream: object) -> bool:
        """Also if its beginning came before."""
        data = self._ends.get(stream, b"") + _received(stream)
        self._ends[stream] = b"" if what in data else data[-len(what) :]
        return what in data

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()


def _received(fileobj: object) -> bytes:
    assert isinstance(fileobj, socket.socket)
    data = fileobj.recv(65_536)
    if not data or data.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
        raise SystemExit(f"A stream was refused or has ended: {data[-300:].decode()}")
    return data


def measure(hub: Hub, *, streams: int, writes: int, are_replayed: bool = False) -> Iterator[str]:
    tokens = [read_token(hub) for _ in range(-(-streams // STREAMS_OF_A_TOKEN))]
    with serving(hub) as server:
        client = server.connect(Wire.STATELESS)
        _write(client, "warm")
        time.sleep(1.0)
        without, began = server.rss_mib, time.perf_counter()
        with closing(Streams(server, tokens, streams, are_replayed=are_replayed)) as opened:
            yield f"all are open, and have what they begin with, after {time.perf_counter() - began:.1f} s"
            yield f"{streams} streams take {server.rss_mib - without:.1f} MiB, the server {without:.1f} MiB"
            cpu = server.cpu_seconds
            rounds = [_time(client, opened, f"w{number}") for number in range(writes)]
            per_write = (server.cpu_seconds - cpu) / writes
            answered, first, last = zip(*rounds, strict=True)
            yield f"a write is answered after   {_figures(answered)}"
            yield f"the first stream tells after {_figures(first)}"
            yield f"all of them have after      {_figures(last)}"
            yield f"processor time of the server for each write: {per_write * 1000:.1f} ms"
            cpu = server.cpu_seconds
            time.sleep(SECONDS_AT_REST)
            yield f"at rest it uses {(server.cpu_seconds - cpu) / SECONDS_AT_REST:.1%} of a processor"
            yield f"memory then: {server.rss_mib:.1f} MiB, at most {server.peak_mib:.1f}"


def read_token(hub: Hub) -> str:
    command = [sys.executable, "manage.py", "token", "create", "--project", hub.project, "--scopes", "read"]
    done = subprocess.run(
        [*command, "--plain"], cwd=ROOT, env=hub.environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def _time(client: Client, streams: Streams, key: str) -> tuple[float, float, float]:
    """Seconds until a write is answered, and until the first and the last stream have told of it."""
    began = time.perf_counter()
    _write(client, key)
    answered = time.perf_counter()
    times = streams.arrivals(f"decision:{key}")
    return answered - began, times[0] - began, times[-1] - began


def _write(client: Client, key: str) -> None:
    client.call(tool("decision", "set", key=key, value="x", agent="writer"))


def _figures(seconds: Sequence[float]) -> str:
    ordered = [each * 1000 for each in sorted(seconds)]
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"p50 {statistics.median(ordered):.1f}, p95 {p95:.1f}, worst {ordered[-1]:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--writes", type=int, default=50)
    parser.add_argument("--decisions", type=int, default=100, help="30,000 make 100,000 events")
    parser.add_argument("--replayed", action="store_true", help="first each is told 10,000 earlier events")
    options = parser.parse_args()
    print(f"{options.engine}, load before {machine.load()}", flush=True)
    with databases(options.engine) as made:
        hub = made.seeded(options.decisions)
        for line in measure(
            hub, streams=options.streams, writes=options.writes, are_replayed=options.replayed
        ):
            print(line, flush=True)


if __name__ == "__main__":
    main()
