"""How many statements the pages of the admin take, and how long.

    python -m benchmarks.pages [--engine postgres] [--database URL]

On the hub of `benchmarks.seeded_hub`, as its administrator and as its viewer, through Django's test client.
The pages take turns, and the median of the rounds counts.
"""

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.databases import Engine, databases

if TYPE_CHECKING:
    from django.test import Client

ROUNDS = 5
STATEMENTS, MILLISECONDS = 25, 250
"""What a page should not exceed."""


class Opened(NamedTuple):
    statements: int
    wall: float
    cpu: float
    size: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--database", help="filled by benchmarks.seeded_hub; else a temporary one")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="a part of the pages' names")
    options = parser.parse_args()
    with _seeded(options.engine, options.database):
        report(options.rounds, options.only)


@contextmanager
def _seeded(engine: Engine, database: str | None) -> Iterator[None]:
    from benchmarks import seeded_hub, seeding

    if database:
        seeded_hub.set_up(database)
        yield
        return
    with databases(engine) as factory:
        seeded_hub.set_up(factory.empty().url)
        seeded_hub.seed()
        seeding.tidy()
        yield
        from django.db import connection

        from ctxhub.core.kit.background import flush_all

        flush_all()
        connection.close()


def pages() -> Mapping[str, str]:
    """The addresses of the pages, by what a person would call them."""
    from memory.models import Decision, Memory
    from messaging.models import Message

    decision = Decision.unscoped.last()
    memory, message = Memory.unscoped.order_by("pk").first(), Message.unscoped.last()
    assert decision
    assert memory
    assert message
    return {
        "first page": "/admin/",
        "first page, renewed": "/admin/overview/",
        "timeline, 24 h": "/admin/core/event/timeline/?last=24h",
        "timeline, 7 d": "/admin/core/event/timeline/?last=7d",
        "log": "/admin/core/event/",
        "log, by agent": "/admin/core/event/agents/",
        "log of an agent": "/admin/core/event/?agent=backend",
        "agents": "/admin/core/agent/",
        "board of leases": "/admin/tracking/lease/board/",
        "leases": "/admin/tracking/lease/",
        "changes": "/admin/tracking/filechange/",
        "messages": "/admin/messaging/message/",
        "message": f"/admin/messaging/message/{message.pk}/",
        "decisions": "/admin/memory/decision/",
        "decision": f"/admin/memory/decision/{decision.pk}/",
        "memories": "/admin/memory/memory/",
        "memory": f"/admin/memory/memory/{memory.pk}/",
        "snapshots": "/admin/memory/snapshot/overview/",
        "scratchpads": "/admin/memory/scratchpad/",
        "sessions": "/admin/agent_sessions/agentsession/",
        "briefings": "/admin/agent_sessions/briefing/",
        "use and cost": "/admin/core/tokenuse/cost/",
        "searches in vain": "/admin/core/emptysearch/",
        "refusals": "/admin/core/refusal/",
        "search": "/admin/search/?q=cursor+pagination",
    }


def report(rounds: int, only: str = "") -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    from benchmarks.seeded_hub import ADMINISTRATOR, VIEWER

    print(f"{'page':<24} {'as':<7} {'statements':>10} {'wall ms':>8} {'CPU ms':>7} {'kB':>6}")
    clients = {}
    for name in (ADMINISTRATOR, VIEWER):
        clients[name] = Client(headers={"host": "localhost"})
        clients[name].force_login(User.objects.get(username=name))
    asked = {
        (page, name): (client, url)
        for page, url in pages().items()
        if only in page
        for name, client in clients.items()
    }
    times: dict[tuple[str, str], list[Opened]] = {key: [] for key in asked}
    for number in range(rounds + 1):
        for key, (client, url) in asked.items():
            opened = open_page(client, url)
            if number:
                times[key].append(opened)
        if not number:  # The first round fills caches. Then, as in a server, what stays is collected no more.
            gc.collect()
            gc.freeze()
    for (page, name), found in times.items():
        statements, wall, cpu, size = (median(values) for values in zip(*found, strict=True))
        over = " over" if statements > STATEMENTS or wall > MILLISECONDS else ""
        print(f"{page:<24} {name:<7} {statements:>10.0f} {wall:>8.0f} {cpu:>7.0f} {size / 1_000:>6.0f}{over}")


def open_page(client: "Client", url: str) -> Opened:
    from django.db import connection

    count = 0

    def counted(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*arguments)

    with connection.execute_wrapper(counted):
        wall, cpu = time.perf_counter(), time.process_time()
        response = client.get(url, follow=True)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert response.status_code == 200, f"{url}: {response.status_code}"
    return Opened(count, wall * 1_000, cpu * 1_000, len(response.content))


if __name__ == "__main__":
    main()
