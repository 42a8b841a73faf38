"""What clients are told of their calls while the hub is killed: `python -m benchmarks.bridges`.

Each window has the client's bridge as a process of its own, sends several calls at once, and marks each
write. It repeats nothing. Afterwards each mark is looked for: what was acknowledged is there once, what is
said not to be done is not there, and what may have been done is there at most once.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import machine
from benchmarks.databases import Databases, Engine, Hub, databases
from benchmarks.servers import ROOT, Server, free_port, serving
from benchmarks.wire import Wire
from tests.hub import McpClient, RestClient

PACKAGE = ROOT / "integrations" / "client" / "ctxhub_client"
DECISIONS = 100
SHARED = "shared"
SINK = "sink"
REQUEST_ID = "ctxhub/request_id"
AT_ONCE = 4
PAGE = 100
# How long a window does something else that was told that the hub is away.
PAUSE_SECONDS = 0.1
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmarks", "version": "1"},
}


@dataclass(frozen=True)
class Plan:
    """`restarts`: after equal shares of the calls; `kills`: by SIGKILL, else by SIGTERM. `away_seconds`: how
    long the hub is not started again, at most.
    """

    calls: int = 10_000
    bridges: int = 16
    restarts: int = 3
    kills: bool = True
    away_seconds: float = 1.0


class Told(StrEnum):
    """What the answer to a call says."""

    DONE = "done"
    NOT_DONE = "not done"
    MAYBE = "may have been done"
    REFUSED = "refused"


@dataclass(frozen=True)
class Findings:
    """`maybe_done`: of the writes that may have been done those that were. From `lost` on all are 0 where
    every answer says the truth.
    """

    restarts: int
    writes: int
    reads: int
    done: int
    not_done: int
    maybe: int
    maybe_done: int
    refused: int
    reads_failed: int
    lost: int
    doubled: int
    done_unsaid: int
    unexpected: int

    @property
    def is_clean(self) -> bool:
        return bool(self.done) and not any([self.lost, self.doubled, self.done_unsaid, self.unexpected])


@dataclass
class Ledger:
    """What the windows were told, by mark; shared by threads."""

    calls: int
    told: dict[str, Told] = field(default_factory=dict)
    reads: Counter[Told] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    begun: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, number: int) -> range:
        """The numbers of the next calls, at most so many; none when all were made."""
        with self._lock:
            first, self.begun = self.begun, min(self.calls, self.begun + number)
            return range(first, self.begun)

    def note(self, mark: str, told: Told) -> None:
        with self._lock:
            if mark:
                self.told[mark] = told
            else:
                self.reads[told] += 1


class Window(threading.Thread):
    """A client's window: its bridge, and the pad that it writes in.

    Half of them make their session up; each third one sends request ids, so that its bridge repeats.
    """

    def __init__(self, ledger: Ledger, hub: Hub, port: int, number: int, home: Path, pad: int) -> None:
        super().__init__(daemon=True)
        self._ledger, self._number, self._pad = ledger, number, pad
        named = {"CTXHUB_SESSION": f"window-{number}"} if number % 2 else {}
        self._process = subprocess.Popen(
            [sys.executable, "-IS", str(PACKAGE), "mcp"],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "CTXHUB_URL": f"http://127.0.0.1:{port}",
                "CTXHUB_TOKEN": hub.token,
                "CTXHUB_AGENT": "bench",
                **named,
            },
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self) -> None:
        self._ask([{"id": -1, "method": "initialize", "params": INITIALIZE}])
        while numbers := self._ledger.begin(AT_ONCE):
            calls = {number: self._call(number) for number in numbers}
            messages = [
                self._message(number, tool, arguments) for number, (_, tool, arguments) in calls.items()
            ]
            for answer in self._ask(messages):
                self._note(calls[answer["id"]][0], answer)

    def _message(self, number: int, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if self._number % 3 == 0:
            params["_meta"] = {REQUEST_ID: f"r{number}"}
        return {"id": number, "method": "tools/call", "params": params}

    def _call(self, number: int) -> tuple[str, str, dict[str, Any]]:
        """The mark of a call, "" for one that only reads, its tool and its arguments."""
        mark = f"m{number}."
        kind = number // AT_ONCE % 10
        if kind < 4:
            return (
                mark,
                "scratchpad",
                {"action": "append", "scratchpad_id": self._pad, "content": f"{mark}\n"},
            )
        if kind < 6:
            return mark, "message", {"action": "send", "to": [SINK], "text": mark, "type": "info"}
        if kind < 7:
            return mark, "decision", {"action": "set", "key": SHARED, "value": mark}
        if kind < 8:
            return "", "hub", {"action": "updates"}
        if kind < 9:
            return "", "decision", {"action": "list", "limit": 5}
        return "", "scratchpad", {"action": "get", "scratchpad_id": self._pad, "tail": 5}

    def _ask(self, messages: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
        assert self._process.stdin
        assert self._process.stdout
        lines = [json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages]
        self._process.stdin.write(b"".join(lines))
        self._process.stdin.flush()
        return [json.loads(self._process.stdout.readline()) for _ in messages]

    def _note(self, mark: str, answer: dict[str, Any]) -> None:
        text = json.dumps(answer["error"]) if "error" in answer else answer["result"]["content"][0]["text"]
        told = _told(text, is_error="error" in answer or answer["result"].get("isError", False))
        if told is None:
            self._ledger.unexpected.append(text)
        else:
            self._ledger.note(mark, told)
        if told in (Told.NOT_DONE, Told.REFUSED):
            time.sleep(PAUSE_SECONDS)


def _told(text: str, *, is_error: bool) -> Told | None:
    if not is_error:
        return Told.DONE
    if "nothing was done" in text:
        return Told.NOT_DONE
    if "may have been done" in text:
        return Told.MAYBE
    # What the hub itself says: it can be tried again.
    return Told.REFUSED if '"retry_after"' in text else None


def measure(factory: Databases, plan: Plan, random: Random) -> Findings:
    hub, ledger, port = factory.seeded(DECISIONS), Ledger(plan.calls), free_port()

    def rest() -> RestClient:
        return RestClient(port, hub.token, project=hub.project)

    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ctxhub-bridges-")))
        windows: list[Window] = []
        for number in range(plan.restarts + 1):
            with serving(hub, port=port) as server:
                server.connect(Wire.INITIALIZED)
                if not windows:
                    pads = _pads(rest(), plan.bridges)
                    windows = [Window(ledger, hub, port, n, home, pad) for n, pad in enumerate(pads)]
                    for window in windows:
                        stack.callback(window.close)
                        window.start()
                if number < plan.restarts:
                    _end(server, ledger, plan.calls * (number + 1) // (plan.restarts + 1), kills=plan.kills)
                    time.sleep(random.random() * plan.away_seconds)
                    continue
                for window in windows:
                    window.join()
                return _compared(ledger, _found(McpClient(port, hub.token), rest(), pads), plan.restarts)
    raise AssertionError("The last round returns.")


def _end(server: Server, ledger: Ledger, after: int, *, kills: bool) -> None:
    while ledger.begun < after:
        time.sleep(0.002)
    if kills:
        server.process.kill()
    else:
        server.process.terminate()
    server.process.wait()


def _pads(client: RestClient, number: int) -> list[int]:
    workflow = client.post("workflows/", {"name": "Windows"}).body["workflow_id"]
    pads = [{"workflow_id": workflow, "name": f"window-{n}"} for n in range(number)]
    return [client.post("scratchpads/", pad).body["scratchpad_id"] for pad in pads]


def _found(mcp: McpClient, rest: RestClient, pads: Iterable[int]) -> Counter[str]:
    """How often each mark is in the hub."""
    found: Counter[str] = Counter()
    for pad in pads:
        found.update(rest.get(f"scratchpads/{pad}/").body["content"].split())
    page: dict[str, Any] = {"next": ""}
    while page["next"] is not None:
        more = {"cursor": page["next"]} if page["next"] else {}
        page = rest.get("messages/", agent=SINK, limit=PAGE, **more).body
        found.update(item["text"] for item in page["items"])
    page = {"next": ""}
    while "next" in page:
        more = {"cursor": page["next"]} if page["next"] else {}
        page = mcp.call("decision", "versions", key=SHARED, limit=PAGE, **more)
        found.update(row[1] for row in page["rows"])
    return found


def _compared(ledger: Ledger, found: Mapping[str, int], restarts: int) -> Findings:
    marks = {told: [mark for mark, each in ledger.told.items() if each is told] for told in Told}
    undone = [*marks[Told.NOT_DONE], *marks[Told.REFUSED]]
    return Findings(
        restarts=restarts,
        writes=len(ledger.told),
        reads=ledger.reads.total(),
        done=len(marks[Told.DONE]),
        not_done=len(marks[Told.NOT_DONE]),
        maybe=len(marks[Told.MAYBE]),
        maybe_done=sum(found.get(mark, 0) > 0 for mark in marks[Told.MAYBE]),
        refused=len(marks[Told.REFUSED]),
        reads_failed=ledger.reads.total() - ledger.reads[Told.DONE],
        lost=sum(not found.get(mark, 0) for mark in marks[Told.DONE]),
        doubled=sum(times > 1 for mark, times in found.items() if mark in ledger.told),
        done_unsaid=sum(found.get(mark, 0) > 0 for mark in undone),
        unexpected=len(ledger.unexpected),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bridges")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--calls", type=int, default=Plan.calls)
    parser.add_argument("--bridges", type=int, default=Plan.bridges)
    parser.add_argument("--restarts", type=int, default=Plan.restarts)
    parser.add_argument("--terminate", action="store_true", help="end the hub by SIGTERM instead of SIGKILL")
    parser.add_argument(
        "--away", type=float, default=Plan.away_seconds, help="seconds without a hub, at most"
    )
    options = parser.parse_args()
    plan = Plan(
        calls=options.calls,
        bridges=options.bridges,
        restarts=options.restarts,
        kills=not options.terminate,
        away_seconds=options.away,
    )
    print(f"{options.engine}, load before {machine.load()}", flush=True)
    began = time.monotonic()
    with databases(options.engine) as factory:
        findings = measure(factory, plan, Random(plan.calls))
    for name, value in asdict(findings).items():
        print(f"{name.replace('_', ' ')}: {value}", flush=True)
    print(f"seconds: {time.monotonic() - began:.0f}", flush=True)
    sys.exit(not findings.is_clean)


if __name__ == "__main__":
    main()
