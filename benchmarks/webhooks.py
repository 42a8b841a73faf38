"""Kills a hub, or its PostgreSQL, while events go to webhooks and streams: `python -m benchmarks.webhooks`.

Agents write events. `manage.py serve` and its workers are killed (SIGKILL) again and again while they send
them, and it is started again. With `--database-kills` a temporary PostgreSQL is killed, too, or ends all
connections, and the hub is left alone. Then each event is looked for among what each receiver was sent: all
of them, in order, one at a time, and what came twice twice the same; and among what each follower of the
event stream was told, who comes back with the id of the last event: all of them, once, in order.

A webhook waits up to 30 s for the lease of a killed worker to end.
"""

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from benchmarks import machine
from benchmarks.database_kills import SETTINGS, DatabaseKills
from benchmarks.databases import (
    ROOT,
    Databases,
    Engine,
    Hub,
    databases,
    databases_of,
    temporary_server,
)
from benchmarks.followers import Follower
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

    @classmethod
    def of(cls, hub: Hub) -> "OpenHub":
        return cls(hub.engine, hub.size, hub.url, hub.home, hub.token)

    @property
    def environment(self) -> dict[str, str]:
        return {**Hub.environment.fget(self), "CTXHUB_WEBHOOK_PRIVATE": "true"}  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Plan:
    events: int
    kills: int = 0
    database_kills: int = 0
    workers: int = 1
    webhooks: int = 1
    followers: int = 0

    @property
    def lives(self) -> Iterator[int]:
        """How often the database is killed in each life of the hub."""
        lives = self.kills + 1
        for life in range(lives):
            yield (life + 1) * self.database_kills // lives - life * self.database_kills // lives


@dataclass(frozen=True)
class Found:
    """Of all webhooks and all followers together; `at_once`: the most of one."""

    written: int
    refused: int
    seconds: float
    per_second: float
    received: int
    missing: int
    doubles: int
    doubles_that_differ: int
    out_of_order: int
    at_once: int
    streams_opened: int
    not_told: int
    told_twice: int
    told_out_of_order: int
    resets: int

    @property
    def is_clean(self) -> bool:
        of_webhooks = self.missing or self.doubles_that_differ or self.out_of_order
        of_streams = self.not_told or self.told_twice or self.told_out_of_order or self.resets
        return bool(self.written) and not (self.refused or of_webhooks or of_streams) and self.at_once == 1


class Writer(threading.Thread):
    def __init__(self, ledger: Ledger, number: int, batches: int) -> None:
        super().__init__(daemon=True)
        self._caller = Caller(ledger, f"writer-{number}", over_mcp=bool(number % 2))
        self._ledger = ledger
        self._number, self._batches = number, batches
        self.keys: list[str] = []

    def run(self) -> None:
        for batch in range(self._batches):
            keys = [f"{self._number}/{batch}/{number}" for number in range(BATCH)]
            items = [{"key": key, "value": "x"} for key in keys]
            answer = self._caller.call("decision", "set_batch", items=items, atomic=True)
            if "error" in answer:
                self._ledger.refused.append(str(answer))
            else:
                self.keys += keys


def measure(factory: Databases, plan: Plan, database: DatabaseKills | None = None) -> Found:
    """`database`: kills that of the factory, if the plan says so."""
    hub = OpenHub.of(factory.seeded(DECISIONS))
    ledger, random = Ledger(hub.token, hub.project), Random(plan.kills)
    writers = [Writer(ledger, number, plan.events // BATCH // WRITERS) for number in range(WRITERS)]
    followers = [Follower(ledger, f"follower-{number}", "decision") for number in range(plan.followers)]
    ends, past = plan.kills + plan.database_kills + 1, 0
    with ExitStack() as stack:
        receivers = [stack.enter_context(_receiver(random)) for _ in range(plan.webhooks)]
        began = time.monotonic()
        for life, database_kills in enumerate(plan.lives):
            with serving(hub, workers=plan.workers) as server:
                server.connect(Wire.INITIALIZED)
                ledger.port = server.port
                ledger.is_up.set()
                if not life:
                    _begin(server, receivers, followers, writers)
                for _ in range(database_kills):
                    past += 1
                    _wait_for(receivers, past * plan.events // ends, random)
                    assert database
                    database.kill()
                if life < plan.kills:
                    past += 1
                    _wait_for(receivers, past * plan.events // ends, random)
                    ledger.is_up.clear()
                    _kill(server)
                    continue
                for writer in writers:
                    writer.join()
                _wait_for(receivers, plan.events, random)
                _wait_for_followers(followers, writers)
                ledger.is_over.set()
        seconds = time.monotonic() - began
    return _check(ledger, receivers, followers, [key for writer in writers for key in writer.keys], seconds)


@contextmanager
def _receiver(random: Random) -> Iterator[Receiver]:
    with running_receiver() as receiver:
        receiver.before_answer = lambda: time.sleep(random.uniform(0, 0.01))
        yield receiver


def _begin(
    server: Server, receivers: Sequence[Receiver], followers: Sequence[Follower], writers: Sequence[Writer]
) -> None:
    client = RestClient(server.port, admin_token(server.hub), project=server.hub.project)
    for receiver in receivers:
        made = client.post("webhooks/", {"url": receiver.url, "nouns": ["decision"]})
        assert made.status == 201, made
    for follower in followers:
        follower.start()
    for follower in followers:
        assert follower.is_following.wait(PATIENCE_SECONDS)
    for writer in writers:
        writer.start()


def _kill(server: Server) -> None:
    """The workers first: when their parent is gone they would end by themselves, in order."""
    for process in (*server.usage.children(recursive=True), server.usage):
        process.kill()


def admin_token(hub: Hub) -> str:
    command = [sys.executable, "manage.py", "token", "create", "--project", hub.project, "--plain"]
    scopes = ["--scopes", "read,write,admin"]
    done = subprocess.run(
        [*command, *scopes], cwd=ROOT, env=hub.environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def _wait_for(receivers: Sequence[Receiver], count: int, random: Random) -> None:
    """Until each has received so many events, and a moment longer."""
    until = time.monotonic() + PATIENCE_SECONDS
    for receiver in receivers:
        while len({each.delivery for each in list(receiver.received)}) < count:
            assert time.monotonic() < until, f"{len(receiver.received)} came"
            time.sleep(0.005)
    time.sleep(random.uniform(0, 0.05))


def _wait_for_followers(followers: Sequence[Follower], writers: Sequence[Writer]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while any(follower.missing(writer.keys) for follower in followers for writer in writers):
        assert time.monotonic() < until, f"{[len(follower.told) for follower in followers]} were told"
        time.sleep(0.1)


@dataclass(frozen=True)
class _Sent:
    """What one webhook was sent."""

    missing: int
    doubles: int
    differing: int
    out_of_order: int


def _sent(receiver: Receiver, keys: Sequence[str]) -> _Sent:
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
    return _Sent(sum(f"decision:{key}" not in told for key in keys), doubles, differing, out_of_order)


def _check(
    ledger: Ledger,
    receivers: Sequence[Receiver],
    followers: Sequence[Follower],
    keys: Sequence[str],
    seconds: float,
) -> Found:
    sent = [_sent(receiver, keys) for receiver in receivers]
    return Found(
        written=len(keys),
        refused=len(ledger.refused),
        seconds=round(seconds, 1),
        per_second=round(len(keys) / seconds, 1),
        received=sum(len(receiver.received) for receiver in receivers),
        missing=sum(each.missing for each in sent),
        doubles=sum(each.doubles for each in sent),
        doubles_that_differ=sum(each.differing for each in sent),
        out_of_order=sum(each.out_of_order for each in sent),
        at_once=max(receiver.most_at_work for receiver in receivers),
        streams_opened=sum(follower.opened for follower in followers),
        not_told=sum(follower.missing(keys) for follower in followers),
        told_twice=sum(follower.doubles for follower in followers),
        told_out_of_order=sum(follower.out_of_order for follower in followers),
        resets=sum(follower.resets for follower in followers),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.webhooks")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--database-kills", type=int, default=0, help="of a temporary PostgreSQL")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--webhooks", type=int, default=1)
    parser.add_argument("--followers", type=int, default=0, help="of the event stream")
    options = vars(parser.parse_args())
    engine, plan = options.pop("engine"), Plan(**options)
    if plan.database_kills and engine is not Engine.POSTGRES:
        parser.error("--database-kills is for --engine postgres")
    stop_on_signals()
    print(f"{engine}, {plan}, load before {machine.load()}", flush=True)
    with _databases(engine, plan) as (factory, database):
        found = measure(factory, plan, database)
    for name, value in asdict(found).items():
        print(f"{name.replace('_', ' ')}: {value}", flush=True)
    sys.exit(not found.is_clean)


@contextmanager
def _databases(engine: Engine, plan: Plan) -> Iterator[tuple[Databases, DatabaseKills | None]]:
    """To be killed, if the plan says so."""
    if not plan.database_kills:
        with databases(engine) as factory:
            yield factory, None
        return
    with temporary_server(SETTINGS) as server, databases_of(server.url) as factory:
        yield factory, DatabaseKills(server, Random(plan.database_kills))


if __name__ == "__main__":
    main()
