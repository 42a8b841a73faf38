"""How long a write holds the write lock, with and without webhooks and streams.

python -m benchmarks.lock_holds [--webhooks 10] [--streams 20] [--pairs 20] [--engine postgres]

This process writes beside a hub that serves. Turns with webhooks and streams alternate with turns without, in
which the webhooks are switched off and the streams closed.
"""

import argparse
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from multiprocessing.connection import Connection

from benchmarks import machine
from benchmarks.databases import Engine, databases
from benchmarks.inside import Statements, connected
from benchmarks.servers import serving
from benchmarks.streams import STREAMS_OF_A_TOKEN, Streams, read_token
from benchmarks.webhooks import OpenHub, admin_token
from benchmarks.wire import Wire
from tests.hub import RestClient
from tests.receiver import running_receiver

DECISIONS = 1_000
WRITES = 40
SECONDS_BETWEEN_WRITES = 0.01
SECONDS_TO_SETTLE = 1.0


@dataclass
class Turn:
    """Of each write: how long it had the lock, and of that the processor time of its thread; how long the
    write took, with the wait for the lock; its statements. Times in ms.
    """

    held: list[float] = field(default_factory=list)
    held_cpu: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    statements: list[float] = field(default_factory=list)


def measure(hub: OpenHub, *, webhooks: int, streams: int, pairs: int) -> Iterator[str]:
    tokens = [read_token(hub) for _ in range(-(-streams // STREAMS_OF_A_TOKEN))]
    with _receiver() as url, serving(hub) as server, connected(hub):
        server.connect(Wire.INITIALIZED)
        client = RestClient(server.port, admin_token(hub), project=hub.project)
        made = [client.post("webhooks/", {"url": url, "active": False}) for _ in range(webhooks)]

        def switch(*, is_on: bool) -> None:
            for each in made:
                answer = client.patch(f"webhooks/{each.body['id']}/", {"active": is_on})
                assert answer.status == 200, answer

        @contextmanager
        def heard() -> Iterator[None]:
            switch(is_on=True)
            with closing(Streams(server, tokens, streams)):
                yield
            switch(is_on=False)

        turns = _turns(heard, _writer(), pairs)
        yield f"{pairs} pairs of {WRITES} writes; {_count_deliveries():,} deliveries beside them"
    yield from (_compared(each.name, turns) for each in fields(Turn))


@contextmanager
def _receiver() -> Iterator[str]:
    """The address of a receiver in a process of its own, which takes no time from the writes."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_receive, args=(there,), daemon=True)
    process.start()
    yield here.recv()
    process.terminate()
    process.join()


def _receive(pipe: Connection) -> None:
    with running_receiver() as receiver:
        pipe.send(receiver.url)
        threading.Event().wait()


def _count_deliveries() -> int:
    from ctxhub.core.models import WebhookDelivery

    return WebhookDelivery.unscoped.count()


def _turns(
    heard: Callable[[], AbstractContextManager[None]], write: Callable[[str], None], pairs: int
) -> tuple[list[Turn], list[Turn]]:
    """Those without webhooks and streams, and those with; in each pair another begins."""
    turns: tuple[list[Turn], list[Turn]] = ([], [])
    for pair in range(pairs):
        for is_heard in (pair % 2, 1 - pair % 2):
            with heard() if is_heard else nullcontext():
                time.sleep(SECONDS_TO_SETTLE)
                turns[is_heard].append(_turn(write, f"{pair}/{is_heard}"))
    return turns


def _turn(write: Callable[[str], None], name: str) -> Turn:
    from django.db import connection

    from benchmarks.lock_times import recorded_holds

    turn = Turn()
    for number in range(WRITES):
        time.sleep(SECONDS_BETWEEN_WRITES)
        is_timed_by_clock = number % 2 == 0
        counted = Statements()
        with recorded_holds(time.perf_counter if is_timed_by_clock else time.thread_time) as holds:
            began = time.perf_counter()
            with connection.execute_wrapper(counted):
                write(f"{name}/{number}")
            turn.whole.append((time.perf_counter() - began) * 1000)
        (turn.held if is_timed_by_clock else turn.held_cpu).append(max(holds) * 1000)
        turn.statements.append(len(counted.texts))
    return turn


def _writer() -> Callable[[str], None]:
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.models import Project
    from memory.decisions.services import set_decision

    caller = Caller(project=Project.objects.get(slug="bench"), agent="writer")

    def write(key: str) -> None:
        set_decision(caller=caller, key=key, value="x")

    return write


def _compared(name: str, turns: tuple[list[Turn], list[Turn]]) -> str:
    """The median of the turns' medians, and of the differences within the pairs, with their quartiles."""
    without, heard = ([statistics.median(getattr(turn, name)) for turn in kind] for kind in turns)
    differences = [after - before for before, after in zip(without, heard, strict=True)]
    low, middle, high = statistics.quantiles(differences, n=4)
    times = f"{statistics.median(without):.2f} without, {statistics.median(heard):.2f} with"
    worst = f"p95 {_p95(turns[0], name):.2f} and {_p95(turns[1], name):.2f}"
    return f"{name}: {times}, {worst}; pairwise {middle:+.2f} ({low:+.2f} to {high:+.2f})"


def _p95(turns: Sequence[Turn], name: str) -> float:
    ordered = sorted(value for turn in turns for value in getattr(turn, name))
    return float(ordered[int(len(ordered) * 0.95)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lock_holds")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--webhooks", type=int, default=10)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    print(f"{options.engine}, load before {machine.load()}", flush=True)
    with databases(options.engine) as factory:
        hub = OpenHub.of(factory.seeded(DECISIONS))
        counts = {"webhooks": options.webhooks, "streams": options.streams, "pairs": options.pairs}
        for line in measure(hub, **counts):
            print(line, flush=True)


if __name__ == "__main__":
    main()
