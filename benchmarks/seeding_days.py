"""Fills a project with the fourteen days of twelve agents, for `benchmarks.seeded_hub`.

Everything is written through the services, hour by hour, so that the event log is in the order of time. Only
the time is changed.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks import texts
from benchmarks.seeding import items_of
from benchmarks.seeding_work import CHANGES, FILES, PRIORITIES, path

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

AWAKE = ("planner", "backend", "frontend", "tester", "reviewer", "migrator", "docs", "release")
SILENT = ("crawler", "night-watch")
LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
HOSTILE_NAMES = (
    '<img src=x onerror="window.harmed=1"><b>Bob</b> ' + LONG_WORD[:50],
    "\u0645\u062d\u0644\u0644 \u05e1\u05d5\u05db\u05df \U0001f9d1\u200d\U0001f4bb zero",
)
AGENTS = (*AWAKE, *HOSTILE_NAMES, *SILENT)

DAYS = 14
HOURS = 24 * DAYS
SILENT_HOURS = 7
BATCH = 25
WORKFLOWS = 8
HOSTILE_ROWS = 100

Write = Any
"""Writes a batch of items as an agent, as `set_decision_batch` does."""


def fill_days(
    callers: Sequence["Caller"], decisions: int, events: int, until: datetime, hours: int = HOURS
) -> None:
    """So many decisions, and about so many events, in the hours before `until`."""
    from ctxhub.core.kit.transactions import write_transaction
    from memory.decisions.services import set_decision_batch
    from messaging.messages.services import send_message_batch
    from tracking.changes.services import record_change_batch

    random = Random(decisions)
    values = _decisions(decisions)
    mails = list(_messages(random, decisions // 4))
    changes = list(_changes(random, max(0, events - len(values) - len(mails) - 8 * hours)))
    streams: list[tuple[Write, list[Any]]] = [
        (set_decision_batch, values),
        (send_message_batch, mails),
        (record_change_batch, changes),
    ]
    work = SmallWork(random)
    bounds = _bounds(hours)
    for hour in range(hours):
        begins = until - timedelta(hours=hours - hour)
        awake = callers if hour < hours - SILENT_HOURS else callers[: -len(SILENT)]
        batches = [
            partial(write, items=some)
            for write, items in streams
            for some in _cut(items[int(bounds[hour] * len(items)) : int(bounds[hour + 1] * len(items))])
        ]
        random.shuffle(batches)
        with write_transaction(callers[0].project_id):
            for number, write in enumerate(batches):
                with at_time(begins + timedelta(minutes=50) * number / len(batches)):
                    write(caller=awake[(hour + number) % len(awake)])
            with at_time(begins + timedelta(minutes=55)):
                work.write(hour, awake)


@contextmanager
def at_time(moment: datetime) -> Iterator[None]:
    with patch("ctxhub.core.kit.clock.now", return_value=moment):
        yield


@contextmanager
def without_looking() -> Iterator[None]:
    """Do not look for similar memories and expired rows, which would take most of the time."""
    similar = patch("memory.memories.services._similar", return_value=[])
    with similar, patch("ctxhub.core.signals.cleanup_sometimes"):
        yield


class SmallWork:
    """What there is little of: memories, snapshots, sessions, pads, leases, briefs and receipts."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.memories: list[int] = []
        self.snapshots: list[int] = []
        self.pads: list[int] = []
        self.leases: list[tuple[Caller, int]] = []

    def write(self, hour: int, callers: Sequence["Caller"]) -> None:
        from messaging.messages.services import read_messages_of

        caller = callers[hour % len(callers)]
        if not self.pads:
            self._create_pads(caller)
        self._remember(caller, hour)
        self._save(caller, hour)
        self._append(caller, hour)
        self._lease(caller, hour)
        if hour % 4 == 0:
            for reader in callers[: len(callers) // 2]:
                read_messages_of(caller=reader, everything=True)

    def _remember(self, caller: "Caller", hour: int) -> None:
        """Three memories in an hour; two of three are about earlier ones."""
        from memory.memories.services import add_memory
        from memory.relationships.services import relate

        for _ in range(3):
            number = len(self.memories)
            title = hostile(number, every=10) or texts.value(self.random)[:60]
            added = add_memory(
                caller=caller,
                title=f"{texts.AREAS[number % 10]}: {title}",
                content=f"{texts.value(self.random)}\n\n{texts.reason(self.random)}",
                context=("general", "backend", "frontend", LONG_WORD[:90])[number % 4],
                tags=self.random.sample(texts.TAGS, 2),
            )
            if number % 3:
                other = self.memories[self.random.randrange(number)]
                relate(caller=caller, source=added["id"], target=other)
            self.memories.append(added["id"])

    def _save(self, caller: "Caller", hour: int) -> None:
        from memory.snapshots.services import save_snapshot
        from sessions.briefs.brief import brief
        from sessions.sittings.services import save_session

        saved = save_session(
            caller=caller,
            workspace_id=f"workspace {hour % 9}",
            summary=hostile(hour, every=20) or texts.value(self.random),
            items=[{"category": "task", "content": texts.reason(self.random)}],
            files=[{"path": path(hour), "hash": f"{hour:040x}"}],
        )
        snapshot = save_snapshot(
            caller=caller,
            content=texts.value(self.random),
            source="mcp",
            caused_by=str(self.random.choice(self.snapshots[-20:])) if self.snapshots else None,
            session=str(saved["session"]),
        )
        self.snapshots.append(snapshot["id"])
        if hour % 24 == 0:
            brief(caller=caller, task=f"Change {path(hour)}: {texts.CHOICES[hour % len(texts.CHOICES)]}")

    def _create_pads(self, caller: "Caller") -> None:
        from memory.scratchpads.services import create_scratchpad
        from memory.workflows.services import create_workflow

        for number in range(WORKFLOWS):
            name = LONG_WORD if number == 5 else f"Release {number}"
            workflow = create_workflow(caller=caller, name=name)["workflow_id"]
            for pad in (hostile(number, every=2)[:150] or "Plan", "Log"):
                made = create_scratchpad(caller=caller, workflow_id=workflow, name=pad, content=f"# {pad}")
                self.pads.append(made["scratchpad_id"])

    def _append(self, caller: "Caller", hour: int) -> None:
        from memory.scratchpads.services import append_to_scratchpad

        pad = self.pads[hour % len(self.pads)]
        append_to_scratchpad(
            caller=caller, scratchpad_id=pad, content=f"## Hour {hour}\n\n{texts.value(self.random)}"
        )

    def _lease(self, caller: "Caller", hour: int) -> None:
        """A lease an hour, of which the holder releases every second."""
        from tracking.leases.services import acquire_lease, release_leases

        if self.leases and hour % 2:
            holder, lease = self.leases.pop()
            release_leases(caller=holder, lease_id=lease)
        held = acquire_lease(
            caller=caller,
            paths=[f"src/{texts.AREAS[hour % 10]}/hour_{hour}/**"],
            minutes=90,
            reason=hostile(hour, every=5) or texts.reason(self.random),
        )
        self.leases.append((caller, held["lease_id"]))


def hostile(number: int, *, every: int) -> str:
    """A hostile text, for each `every`th number; "" for others."""
    from tests.hostile import HOSTILE

    if number % every:
        return ""
    text = (*HOSTILE, LONG_WORD, *HOSTILE_NAMES)[number // every % (len(HOSTILE) + 3)]
    return " ".join(text.replace("\0", "").split())


# -- Pieces ----------------------------------------------------------------------------------------


def _decisions(size: int) -> list[dict[str, Any]]:
    """Decisions of which each tenth bears on files, and a hundred have hostile texts."""
    from ctxhub.core.text.invisible import without_invisible

    items = list(items_of(size))
    for number, item in enumerate(items[: size - 1]):
        if number % 10 == 3:
            item["paths"] = [path(number // 10 * 7 % FILES)]
        if text := hostile(number, every=max(1, size // HOSTILE_ROWS)):
            item["value"] = item["rationale"] = f"{text} {item['value']}"
            name = without_invisible(text)
            item["key"] = f"{item['key']}/{name}"[:190].rstrip()
            # A tag with these marks is read as a list.
            item["tags"] = [*item["tags"], re.sub(r"[^\w <>=/.:-]", "", name)[:80].strip()]
    return items


def _messages(random: Random, count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {
            "text": hostile(number, every=25) or texts.value(random),
            "type": ("info", "info", "decision", "warning")[number % 4],
            "priority": random.choice(PRIORITIES),
            **({} if number % 50 == 1 else {"to": random.sample(AGENTS, 2)}),
        }


def _changes(random: Random, count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {
            "path": path(int(FILES * random.random() ** 2)),
            "change": CHANGES[number % 5],
            "description": hostile(number, every=500) or texts.reason(random),
        }


def _bounds(hours: int) -> list[float]:
    """What share of the work is done before each hour: by day three times as much as by night."""
    weights = [3 if 8 <= hour % 24 < 19 else 1 for hour in range(hours)]
    return [0.0, *(done / sum(weights) for done in accumulate(weights))]


def _cut(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for first in range(0, len(items), BATCH):
        yield items[first : first + BATCH]
