"""Fills a database with constraints, messages, file changes and leases of agents.

As many messages, changes and leases as decisions, so recent that none is cleaned up. A third of the
messages are for the agent of the measurements, and half of those are read.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks import texts

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

READER = "bench"
CONSTRAINTS = 200
LIVE_LEASES = 50
FILES = 2_000
BATCH = 50
BATCHES_IN_A_TRANSACTION = 40
MESSAGES_SPAN = timedelta(hours=23)
CHANGES_SPAN = timedelta(days=6, hours=23)
TYPES = ("info", "request", "decision", "warning")
PRIORITIES = ("low", "medium", "medium", "medium", "high", "critical")
CHANGES = ("modified", "modified", "modified", "created", "deleted")

Write = Callable[["Caller", Sequence[dict[str, Any]]], object]


def path(number: int) -> str:
    return f"src/{texts.AREAS[number % 10]}/{texts.PARTS[number // 10 % 10]}/module_{number:04}.py"


def seed_work(callers: Sequence["Caller"], size: int, layers: Sequence[str]) -> None:
    from messaging.messages.services import read_messages_of, send_message_batch
    from tracking.changes.services import record_change_batch

    random = Random(size)
    reader = callers[-1]
    others = callers[:-1]
    _constraints(others, layers)

    def send(caller: "Caller", items: Sequence[dict[str, Any]]) -> object:
        return send_message_batch(caller=caller, items=items)

    def record(caller: "Caller", items: Sequence[dict[str, Any]]) -> object:
        return record_change_batch(caller=caller, items=items)

    _in_batches(others, list(_messages(random, size // 2)), send, MESSAGES_SPAN)
    read_messages_of(caller=reader, everything=True)
    _in_batches(others, list(_messages(random, size - size // 2)), send, MESSAGES_SPAN / 2)
    _in_batches(others, list(_changes(random, size, layers)), record, CHANGES_SPAN)
    _leases(others, size)


def _in_batches(
    callers: Sequence["Caller"], items: Sequence[dict[str, Any]], write: Write, span: timedelta
) -> None:
    from ctxhub.core.kit.transactions import write_transaction

    batches = [items[at : at + BATCH] for at in range(0, len(items), BATCH)]
    started, step = datetime.now(UTC) - span, span / len(batches)
    for first in range(0, len(batches), BATCHES_IN_A_TRANSACTION):
        with write_transaction(callers[0].project_id):
            for number in range(first, min(first + BATCHES_IN_A_TRANSACTION, len(batches))):
                with patch("ctxhub.core.kit.clock.now", return_value=started + number * step):
                    write(callers[number % len(callers)], batches[number])


def _messages(random: Random, count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        to: dict[str, Any] = {"to": [READER]} if number % 3 == 0 else {"to": [f"agent-{number % 8}", "eve"]}
        yield {
            "text": texts.value(random),
            "type": TYPES[number % 4],
            "priority": random.choice(PRIORITIES),
            **({} if number % 50 == 1 else to),
        }


def _changes(random: Random, count: int, layers: Sequence[str]) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {
            "path": path(random.randrange(FILES)),
            "change": CHANGES[number % 5],
            "layer": layers[number % len(layers)],
            "description": texts.reason(random),
        }


def _constraints(callers: Sequence["Caller"], layers: Sequence[str]) -> None:
    from memory.constraints.services import add_constraint

    random = Random(1)
    for number in range(CONSTRAINTS):
        add_constraint(
            caller=callers[number % len(callers)],
            category=("performance", "architecture", "security")[number % 3],
            text=f"{number}. {texts.value(random)}",
            layer=layers[number % len(layers)],
            priority=random.choice(PRIORITIES),
        )


def _leases(callers: Sequence["Caller"], size: int) -> None:
    """Insert expired leases directly, and acquire live ones through the service."""
    from ctxhub.core.models import Agent
    from tracking.leases.services import acquire_lease
    from tracking.models import Lease, LeasePath

    project, now = callers[0].project, datetime.now(UTC)
    agents = list(Agent.objects.in_project(project).order_by("pk"))
    for first in range(0, size, 1_000):
        leases = [
            Lease(
                project=project,
                agent=agents[number % len(agents)],
                exclusive=True,
                created_at=now - timedelta(minutes=20 + number % 10_000),
                expires_at=now - timedelta(minutes=5 + number % 10_000),
            )
            for number in range(first, min(first + 1_000, size))
        ]
        Lease.unscoped.bulk_create(leases)
        LeasePath.unscoped.bulk_create(
            LeasePath(project=project, lease=lease, pattern=path(number % FILES), head="src")
            for number, lease in enumerate(leases)
        )
    for number in range(LIVE_LEASES):
        acquire_lease(caller=callers[number % len(callers)], paths=[f"docs/{number}/**"], minutes=1_440)
