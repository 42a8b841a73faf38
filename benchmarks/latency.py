"""The latency of single calls of one client, and their CPU time on the server."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.client import Client, answer_of
from benchmarks.databases import Hub
from benchmarks.figures import Latency, timing
from benchmarks.operations import Context, Operation
from benchmarks.servers import Server, Transport, running
from benchmarks.wire import Wire


class WrongAnswer(RuntimeError):
    """A call did not do what is to be measured."""


@dataclass
class Subject:
    """A server under measurement, with its client."""

    hub: Hub
    transport: Transport
    server: Server
    client: Client
    context: Context


@contextmanager
def subject(hub: Hub, transport: Transport, wire: Wire) -> Iterator[Subject]:
    with running(hub, transport) as server:
        yield Subject(hub, transport, server, server.connect(wire), Context(hub.size))


def measure(
    subjects: Sequence[Subject], operations: Sequence[Operation], *, rounds: int, calls: int
) -> list[Latency]:
    """Measure every operation on every server in turn, a few calls at a time, so that noise affects all.

    A first short round, which is not counted, fills connections and caches.
    """
    seconds: dict[tuple[int, str], list[list[float]]] = defaultdict(list)
    cpu: dict[tuple[int, str], float] = defaultdict(float)
    for turn in range(rounds + 1):
        for operation in operations:
            for number, target in enumerate(subjects):
                count = max(2, (calls if turn else 4) // operation.weight)
                target.context.refresh(target.client.call)
                before = target.server.cpu_seconds
                took = [_call(target, operation) for _ in range(count)]
                if turn:
                    seconds[number, operation.name].append(took)
                    cpu[number, operation.name] += target.server.cpu_seconds - before
    return [
        _latency(target, operation, seconds[number, operation.name], cpu[number, operation.name])
        for number, target in enumerate(subjects)
        for operation in operations
    ]


def _call(target: Subject, operation: Operation) -> float:
    took, result = target.client.timed(operation.method, operation.params(target.context))
    answer = answer_of(result) if operation.method == "tools/call" else result
    if not operation.fits(answer):
        raise WrongAnswer(f"{operation.name} at {target.hub.size} answered {str(answer)[:500]}")
    return took


def _latency(target: Subject, operation: Operation, rounds: list[list[float]], cpu: float) -> Latency:
    timed = timing(rounds)
    return Latency(
        engine=target.hub.engine,
        transport=target.transport,
        size=target.hub.size,
        operation=operation.name,
        timing=timed,
        cpu=round(cpu / timed.calls * 1000, 3),
    )
