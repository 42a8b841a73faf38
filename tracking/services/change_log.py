"""What every change of a file leaves behind, whoever wrote it: a figure and an event."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core.services.events import Change, record
from ctxhub.core.services.tallies import Place, place, tally


@dataclass(frozen=True, slots=True)
class Recorded:
    """A change as it stands, or stood: `change` is its word."""

    id: int
    path: str
    change: str
    layer_id: int | None
    description: str
    at: datetime


def record_changes(
    *,
    project_id: int,
    agent_id: int | None,
    changes: Sequence[Recorded],
    at: datetime,
    new_files: int = 0,
) -> None:
    """Count new changes and tell them, as the last statements of the transaction."""
    counts: Counter[Place] = Counter(place("change", change.layer_id) for change in changes)
    counts[place("resource")] += new_files
    tally(project_id, counts)
    events = [Change("change", c.change, f"resource:{c.path}", _data(c), c.at) for c in changes]
    record(project_id=project_id, agent_id=agent_id, changes=events, at=at)


def record_correction(
    *, project_id: int, agent_id: int | None, verb: str, was: Recorded, now: Recorded | None, at: datetime
) -> None:
    """Somebody put a change right, or took it away: the log is of files, so this is told of the change."""
    counts: Counter[Place] = Counter({place("change", was.layer_id): -1})
    if now:
        counts[place("change", now.layer_id)] += 1
    tally(project_id, counts)
    told = Change("change", verb, f"change:{was.id}", {"note": f"{was.change} {was.path}"})
    record(project_id=project_id, agent_id=agent_id, changes=[told], at=at)


def count_files(project_id: int, by: int) -> None:
    tally(project_id, Counter({place("resource"): by}))


def count_gone(project_id: int, layers: Sequence[int | None]) -> None:
    """Changes that have aged away: told once, by whoever cleans."""
    gone = Counter(place("change", layer_id) for layer_id in layers)
    tally(project_id, Counter({where: -count for where, count in gone.items()}))


def _data(change: Recorded) -> dict[str, Any]:
    return {"id": change.id, **({"note": change.description[:200]} if change.description else {})}
