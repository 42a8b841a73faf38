"""How long one call takes one client, and what it costs the server."""

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
    """A call did something else than what it is measured for."""


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
    """Every operation on every server in turn, a few calls at a time: what disturbs one disturbs all alike.

    A first short round, which is not counted, wakes connections and caches.
    """
    seconds: dict[tuple[int, str], list[list[float]]] = defaultdict(list)
    cpu: dict[tuple[int, str], float] = defaultdict(float)
    for turn in range(rounds + 1):
        for operation in operations:
            for number, one in enumerate(subjects):
                count = max(2, (calls if turn else 4) // operation.weight)
                one.context.refresh(one.client.call)
                before = one.server.cpu_seconds
                took = [_call(one, operation) for _ in range(count)]
                if turn:
                    seconds[number, operation.name].append(took)
                    cpu[number, operation.name] += one.server.cpu_seconds - before
    return [
        _latency(one, operation, seconds[number, operation.name], cpu[number, operation.name])
        for number, one in enumerate(subjects)
        for operation in operations
    ]


def _call(one: Subject, operation: Operation) -> float:
    took, result = one.client.timed(operation.method, operation.params(one.context))
    answer = answer_of(result) if operation.method == "tools/call" else result
    if not operation.fits(answer):
        raise WrongAnswer(f"{operation.name} at {one.hub.size} answered {str(answer)[:500]}")
    return took


def _latency(one: Subject, operation: Operation, rounds: list[list[float]], cpu: float) -> Latency:
    timed = timing(rounds)
    return Latency(
        engine=one.hub.engine,
        transport=one.transport,
        size=one.hub.size,
        operation=operation.name,
        timing=timed,
        cpu=round(cpu / timed.calls * 1000, 3),
    )
