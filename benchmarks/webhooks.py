"""Kills a serving hub while it delivers to a webhook: `python -m benchmarks.webhooks [--engine postgres]`.

Agents write events. `manage.py serve` and its workers are killed (SIGKILL) again and again while they send
them, and it is started again. Then each event is looked for among what the receiver was sent: all of
them, in order, one at a time, and what came twice twice the same.

A webhook waits up to 30 s for the lease of a killed worker to end.
"""

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from benchmarks import machine
from benchmarks.databases import ROOT, Databases, Engine, Hub, databases
from benchmarks.kills import Caller
from benchmarks.ledger import Ledger
from benchmarks.servers import Server, serving
from benchmarks.wire import Wire
from tests.hub import RestClient
from tests.postgres import stop_on_signals
from tests.receiver import Receiver, running_receiver

DECISIONS = 100
BATCH = 50
WRITERS = 2
PATIENCE_SECONDS = 180


class OpenHub(Hub):
    """A hub whose webhooks may lead to this machine."""

    __slots__ = ()

    @property
    def environment(self) -> dict[str, str]:
        return {**Hub.environment.fget(self), "CTXHUB_WEBHOOK_PRIVATE": "true"}  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Found:
    events: int
    kills: int
    workers: int
    seconds: float
    per_second: float
    received: int
    missing: int
    doubles: int
    doubles_that_differ: int
    out_of_order: int
    at_once: int

    @property
    def is_clean(self) -> bool:
        return not (self.missing or self.doubles_that_differ or self.out_of_order) and self.at_once == 1


class Writer(threading.Thread):
    def __init__(self, ledger: Ledger, number: int, batches: int) -> None:
        super().__init__(daemon=True)
        self._caller = Caller(ledger, f"writer-{number}", over_mcp=bool(number % 2))
        self._number, self._batches = number, batches
        self.keys: list[str] = []

    def run(self) -> None:
        for batch in range(self._batches):
            keys = [f"{self._number}/{batch}/{number}" for number in range(BATCH)]
            items = [{"key": key, "value": "x"} for key in keys]
            self._caller.call("decision", "set_batch", items=items, atomic=True)
            self.keys += keys


def measure(factory: Databases, *, events: int, kills: int, workers: int) -> Found:
    seeded = factory.seeded(DECISIONS)
    hub = OpenHub(seeded.engine, seeded.size, seeded.url, seeded.home, seeded.token)
    ledger, random = Ledger(hub.token, hub.project), Random(kills)
    writers = [Writer(ledger, number, events // BATCH // WRITERS) for number in range(WRITERS)]
    with running_receiver() as receiver:
        receiver.before_answer = lambda: time.sleep(random.uniform(0, 0.01))
        began = time.monotonic()
        for number in range(kills + 1):
            with serving(hub, workers=workers) as server:
                server.connect(Wire.INITIALIZED)
                ledger.port = server.port
                ledger.is_up.set()
                if not number:
                    client = RestClient(server.port, _admin_token(hub), project=hub.project)
                    made = client.post("webhooks/", {"url": receiver.url, "nouns": ["decision"]})
                    assert made.status == 201, made
                    for writer in writers:
                        writer.start()
                until = events if number == kills else (number + 1) * events // (kills + 1)
                _wait_for(receiver, until)
                if number < kills:
                    time.sleep(random.uniform(0, 0.05))
                    ledger.is_up.clear()
                    _kill(server)
                    continue
                for writer in writers:
                    writer.join()
                _wait_for(receiver, events)
        seconds = time.monotonic() - began
    keys = [key for writer in writers for key in writer.keys]
    return _check(receiver, keys, kills=kills, workers=workers, seconds=seconds)


def _kill(server: Server) -> None:
    """The workers first: when their parent is gone they would end by themselves, in order."""
    for process in (*server.usage.children(recursive=True), server.usage):
        process.kill()


def _admin_token(hub: Hub) -> str:
    command = [sys.executable, "manage.py", "token", "create", "--project", hub.project, "--plain"]
    scopes = ["--scopes", "read,write,admin"]
    done = subprocess.run(
        [*command, *scopes], cwd=ROOT, env=hub.environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def _wait_for(receiver: Receiver, count: int) -> None:
    """Until so many events were received."""
    until = time.monotonic() + PATIENCE_SECONDS
    while len({each.delivery for each in list(receiver.received)}) < count:
        assert time.monotonic() < until, f"{len(receiver.received)} came"
        time.sleep(0.005)


def _check(receiver: Receiver, keys: list[str], *, kills: int, workers: int, seconds: float) -> Found:
    first: dict[str, Mapping[str, Any]] = {}
    doubles = differing = out_of_order = newest = 0
    for each in receiver.received:
        event_id = int(each.body["id"][1:])
        out_of_order += event_id < newest
        newest = max(newest, event_id)
        if each.delivery in first:
            doubles += 1
            differing += first[each.delivery] != each.body
        first.setdefault(each.delivery, each.body)
    told = {body["ref"] for body in first.values()}
    return Found(
        events=len(keys),
        kills=kills,
        workers=workers,
        seconds=round(seconds, 1),
        per_second=round(len(keys) / seconds, 1),
        received=len(receiver.received),
        missing=sum(f"decision:{key}" not in told for key in keys),
        doubles=doubles,
        doubles_that_differ=differing,
        out_of_order=out_of_order,
        at_once=receiver.most_at_work,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.webhooks")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    stop_on_signals()
    print(f"{options.engine}, load before {machine.load()}", flush=True)
    with databases(options.engine) as factory:
        found = measure(factory, events=options.events, kills=options.kills, workers=options.workers)
    for name, value in asdict(found).items():
        print(f"{name.replace('_', ' ')}: {value}", flush=True)
    sys.exit(not found.is_clean)


if __name__ == "__main__":
    main()
