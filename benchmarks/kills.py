"""Kills a server under load again and again: `python -m benchmarks.kills [--engine postgres] [--workers 2]`.

Writers of both faces send each write with a request id until it is acknowledged; `manage.py serve` is killed
(SIGKILL) at a random moment, its workers end with it, and it is started again. Then every acknowledged write
is looked for.
"""

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from http.client import HTTPException
from random import Random
from typing import Any

from benchmarks import machine
from benchmarks.databases import Databases, Engine, databases
from benchmarks.ledger import Findings, Ledger
from benchmarks.operations import FAR_CURSOR
from benchmarks.servers import serving
from benchmarks.wire import Wire
from tests.hub import McpClient, RestClient

REQUEST_ID = "ctxhub/request_id"
WRITERS = 6
DECISIONS = 100
BATCH = 5
PAGE = 100
# The number of acknowledged writes that are read back with one call.
READ_BACK = 50
SHARED = "shared"
LEASED = "hot/**"


class Away(Exception):
    """The hub answers that its database does not."""


class Caller:
    """Calls tools as one agent, over MCP or REST, and goes on when the server or its database is back."""

    def __init__(self, ledger: Ledger, agent: str, *, over_mcp: bool) -> None:
        self._ledger, self._agent, self._over_mcp = ledger, agent, over_mcp
        self._number = 0
        self._connected_to = 0
        self._client: McpClient | RestClient

    def call(self, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        """The answer, also if it is an error; sent with one request id until it comes."""
        self._number += 1
        request_id = f"{self._agent}-{self._number}"
        while True:
            self._ledger.is_up.wait()
            try:
                return self._send(request_id, tool, action, arguments)
            except Away:
                time.sleep(0.05)
            except (OSError, HTTPException):
                self._connected_to = 0
                time.sleep(0.01)

    def _send(self, request_id: str, tool: str, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
        client = self._connect()
        if isinstance(client, RestClient):
            reply = client.post(f"call/{tool}/{action}/", arguments, {"Idempotency-Key": request_id})
        else:
            named = {"name": tool, "arguments": {"action": action, **arguments}}
            params = {**named, "_meta": {REQUEST_ID: request_id}}
            message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
            reply = client.send("POST", client.path, message)
        if reply.status == 503:
            raise Away
        answer: dict[str, Any] = reply.body
        if isinstance(client, RestClient) or "result" not in answer:
            return answer
        called: dict[str, Any] = json.loads(answer["result"]["content"][0]["text"])
        return called

    def _connect(self) -> McpClient | RestClient:
        if self._connected_to != self._ledger.port:
            self._connected_to = self._ledger.port
            named = {"Ctxhub-Agent": self._agent}
            ledger = self._ledger
            self._client = (
                McpClient(ledger.port, ledger.token, named)
                if self._over_mcp
                else RestClient(ledger.port, ledger.token, named, project=ledger.project)
            )
        return self._client


class Writer(threading.Thread):
    """Writes keys of its own, a key that all write, batches, and takes a lease that all want."""

    def __init__(self, ledger: Ledger, number: int) -> None:
        super().__init__(daemon=True)
        self._ledger = ledger
        self._agent = f"writer-{number}"
        self._caller = Caller(ledger, self._agent, over_mcp=bool(number % 2))
        self.batch: Sequence[str] = ()

    def run(self) -> None:
        turn = 0
        while not self._ledger.is_over.is_set():
            turn += 1
            self._set(f"{self._agent}/{turn}", str(turn))
            self._set_shared(f"{self._agent} {turn}")
            self._set_batch(turn)
            self._write_under_lease(turn)

    def _set(self, key: str, value: str) -> None:
        if self._done("decision", "set", key=key, value=value):
            self._ledger.values[key] = value

    def _set_shared(self, value: str) -> None:
        if self._done("decision", "set", key=SHARED, value=value):
            self._ledger.shared.append(value)

    def _set_batch(self, turn: int) -> None:
        self.batch = [f"{self._agent}/batch/{turn}/{number}" for number in range(BATCH)]
        items = [{"key": key, "value": str(turn)} for key in self.batch]
        if self._done("decision", "set_batch", items=items, atomic=True):
            self._ledger.values |= dict.fromkeys(self.batch, str(turn))

    def _write_under_lease(self, turn: int) -> None:
        lease = self._caller.call("file", "lease", paths=[LEASED], minutes=60)
        if "lease_id" not in lease:
            return
        self._ledger.note_lease(self._agent)
        self._set(f"{self._agent}/leased/{turn}", str(turn))
        self._ledger.note_release()
        self._done("file", "release", lease_id=lease["lease_id"])

    def _done(self, tool: str, action: str, **arguments: Any) -> bool:
        answer = self._caller.call(tool, action, **arguments)
        if "error" in answer or "type" in answer:
            self._ledger.refused.append(f"{tool} {action}: {answer}")
            return False
        return True


class Follower(threading.Thread):
    """Reads the events since its cursor, and counts those that created a thing."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(daemon=True)
        self._ledger = ledger
        self._caller = Caller(ledger, "follower", over_mcp=True)
        self._cursor = FAR_CURSOR

    def begin(self) -> None:
        self._cursor = self._updates()

    def run(self) -> None:
        while not self._ledger.is_over.is_set():
            self.read()

    def read(self) -> None:
        """Events up to the new cursor; those that come meanwhile are read again the next time."""
        since, self._cursor = self._cursor, self._updates()
        page: dict[str, Any] = {"next": ""}
        while "next" in page:
            more = {"cursor": page["next"]} if page["next"] else {}
            page = self._caller.call("hub", "activity", since=since, limit=PAGE, verbs=["created"], **more)
            self._ledger.seen.update(row[3].removeprefix("decision:") for row in page.get("rows", []))

    def _updates(self) -> str:
        return str(self._caller.call("hub", "updates", since=self._cursor)["cursor"])


def measure(factory: Databases, *, rounds: int, seconds: float, workers: int = 1) -> Findings:
    """So many rounds of about so many seconds, each ended by a kill; then a last one, and all is checked."""
    hub = factory.seeded(DECISIONS)
    ledger = Ledger(hub.token, hub.project)
    writers = [Writer(ledger, number) for number in range(WRITERS)]
    follower = Follower(ledger)
    random, half = Random(rounds), 0
    for number in range(rounds + 1):
        with serving(hub, workers=workers) as server:
            server.connect(Wire.INITIALIZED)
            checker = McpClient(server.port, hub.token)
            half += sum(0 < len(_values(checker, writer.batch)) < len(writer.batch) for writer in writers)
            ledger.port = server.port
            ledger.is_up.set()
            if not number:
                follower.begin()
                for thread in (*writers, follower):
                    thread.start()
            time.sleep(seconds * random.uniform(0.5, 1.5))
            if number < rounds:
                ledger.is_up.clear()
                server.process.kill()
                continue
            ledger.is_over.set()
            for thread in (*writers, follower):
                thread.join()
            follower.read()
            return _check(checker, ledger, rounds, half)
    raise AssertionError("The last round returns.")


def _check(checker: McpClient, ledger: Ledger, rounds: int, half_batches: int) -> Findings:
    keys = list(ledger.values)
    stored = _values(checker, keys)
    versions = _versions(checker)
    times_written = Counter(value for _, value in versions)
    return Findings(
        rounds=rounds,
        acknowledged=len(ledger.values) + len(ledger.shared),
        lost=sum(stored.get(key) != ledger.values[key] for key in keys)
        + sum(not times_written[value] for value in ledger.shared),
        doubled=sum(times - 1 for times in times_written.values()),
        half_batches=half_batches,
        version_gaps=sum(version != number for number, (version, _) in enumerate(versions)),
        overlapping_leases=ledger.overlapping_leases,
        events_missed=sum(key not in ledger.seen for key in keys),
        refused=len(ledger.refused),
    )


def _values(checker: McpClient, keys: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for at in range(0, len(keys), READ_BACK):
        refs = [f"decision:{key}" for key in keys[at : at + READ_BACK]]
        items = checker.call("get", refs=refs)["items"]
        found |= {item["ref"].removeprefix("decision:"): item["value"] for item in items}
    return found


def _versions(checker: McpClient) -> list[tuple[int, str]]:
    """The last part of the version, and the value, of each version of the shared key; oldest first."""
    rows, page = [], {"next": ""}
    while "next" in page:
        more = {"cursor": page["next"]} if page["next"] else {}
        page = checker.call("decision", "versions", key=SHARED, **more)
        rows += [(int(row[0].rpartition(".")[2]), row[1]) for row in page["rows"]]
    return rows[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2, help="of a round, about")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.engine}, {options.workers} workers, load before {machine.load()}", flush=True)
    with databases(options.engine) as factory:
        findings = measure(factory, rounds=options.rounds, seconds=options.seconds, workers=options.workers)
    for name, value in asdict(findings).items():
        print(f"{name.replace('_', ' ')}: {value}", flush=True)
    sys.exit(not findings.is_clean)


if __name__ == "__main__":
    main()
