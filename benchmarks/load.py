"""Many concurrent clients: each writes and reads in turns, without pauses."""

import selectors
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from benchmarks.client import Client, Refused, answer_of, result_of
from benchmarks.databases import Hub
from benchmarks.figures import Load, timing
from benchmarks.operations import Context, get_known, is_found, new_decision, tool
from benchmarks.servers import Server, Transport, running
from benchmarks.wire import Wire

WARM_UP_SECONDS = 0.5
# The number of acknowledged writes that are read back with one call.
READ_BACK = 50


@dataclass
class Agent:
    """A client with one call at a time, and its results."""

    client: Client
    name: str
    context: Context
    acknowledged: dict[str, str] = field(default_factory=dict)
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    errors: int = 0
    is_writing: bool = False
    _started: float = 0.0
    _written: tuple[str, str] = ("", "")

    def send_next(self) -> None:
        self.is_writing = not self.is_writing
        if self.is_writing:
            decision = new_decision(self.context)
            decision["key"] = f"{self.name}/{decision['key']}"
            self._written = (decision["key"], decision["value"])
            params = tool("decision", "set", **decision, agent=self.name)
        else:
            params = get_known(self.context)
        frame = self.client.frame("tools/call", params)
        self._started = time.perf_counter()
        self.client.channel.send(frame)

    def receive(self) -> bool:
        """Read available bytes; return whether the answer is complete."""
        body = self.client.channel.receive()
        if body is None:
            return False
        (self.writes if self.is_writing else self.reads).append(time.perf_counter() - self._started)
        try:
            answer = answer_of(result_of(body))
        except Refused:
            self.errors += 1
            return True
        if self.is_writing:
            self.acknowledged[self._written[0]] = self._written[1]
        elif not is_found(answer):
            self.errors += 1
        return True

    def lost(self) -> int:
        """The number of acknowledged writes that are missing or have another value."""
        keys = list(self.acknowledged)
        lost = 0
        for at in range(0, len(keys), READ_BACK):
            batch = keys[at : at + READ_BACK]
            items = self.client.call(tool("get", refs=[f"decision:{key}" for key in batch]))["items"]
            values = {item["ref"].removeprefix("decision:"): item["value"] for item in items}
            lost += sum(values.get(key) != self.acknowledged[key] for key in batch)
        return lost


@dataclass
class Burst:
    """The results of one burst of a crowd, in seconds."""

    calls: int
    took: float
    cpu: float
    writes: list[float]
    reads: list[float]


@dataclass
class Crowd:
    """Agents that use one hub, and their servers: one for all over HTTP, one for each over stdio."""

    hub: Hub
    transport: Transport
    agents: Sequence[Agent]
    servers: Sequence[Server]
    bursts: list[Burst] = field(default_factory=list)

    def work(self, seconds: float) -> None:
        for agent in self.agents:
            agent.writes, agent.reads = [], []
        before = self._cpu_seconds()
        took = _run(self.agents, seconds)
        writes = [second for agent in self.agents for second in agent.writes]
        reads = [second for agent in self.agents for second in agent.reads]
        cpu = self._cpu_seconds() - before
        self.bursts.append(Burst(len(writes) + len(reads), took, cpu, writes, reads))

    def result(self) -> Load:
        return Load(
            engine=self.hub.engine,
            transport=self.transport,
            size=self.hub.size,
            clients=len(self.agents),
            per_second=round(statistics.median(burst.calls / burst.took for burst in self.bursts), 1),
            writes=timing([burst.writes for burst in self.bursts]),
            reads=timing([burst.reads for burst in self.bursts]),
            errors=sum(agent.errors for agent in self.agents),
            lost=sum(agent.lost() for agent in self.agents),
            acknowledged=sum(len(agent.acknowledged) for agent in self.agents),
            rss_mib=round(sum(server.rss_mib for server in self.servers), 1),
            cpu=round(statistics.median(burst.cpu / burst.calls for burst in self.bursts) * 1000, 3),
        )

    def _cpu_seconds(self) -> float:
        return sum(server.cpu_seconds for server in self.servers)


@contextmanager
def crowd(hub: Hub, transport: Transport, wire: Wire, clients: int) -> Iterator[Crowd]:
    names = [f"agent-{number}" for number in range(clients)]
    with ExitStack() as stack:
        if transport is Transport.STDIO:
            servers = [stack.enter_context(running(hub, transport, agent=name)) for name in names]
            connected = [server.connect(wire) for server in servers]
        else:
            servers = [stack.enter_context(running(hub, transport))]
            connected = [servers[0].connect(wire) for _ in names]
        pairs = zip(connected, names, strict=True)
        yield Crowd(
            hub, transport, [Agent(client, name, Context(hub.size)) for client, name in pairs], servers
        )


def measure(crowds: Sequence[Crowd], *, rounds: int, seconds: float) -> list[Load]:
    """Crowds take turns: each works in as many bursts as there are rounds, `seconds` in all."""
    for member in crowds:
        member.work(WARM_UP_SECONDS)
        member.bursts.clear()
    for _ in range(rounds):
        for member in crowds:
            member.work(seconds / rounds)
    return [member.result() for member in crowds]


def _run(agents: Sequence[Agent], seconds: float) -> float:
    """Run all agents in one thread: several would wait for the interpreter, and measure that."""
    with selectors.DefaultSelector() as selector:
        started = time.perf_counter()
        for agent in agents:
            agent.send_next()
            selector.register(agent.client.channel, selectors.EVENT_READ, agent)
        while selector.get_map():
            for key, _ in selector.select():
                agent = key.data
                if not agent.receive():
                    continue
                if time.perf_counter() - started < seconds:
                    agent.send_next()
                else:
                    selector.unregister(agent.client.channel)
        return time.perf_counter() - started
