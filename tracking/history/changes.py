"""What every change of a file leaves behind, whoever wrote it: a figure and an event."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.services.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.search.services.index import forget, index_again, index_documents
from tracking.search import change_documents, resource_document
from tracking.sql.changes import Recorded


def record_changes(
    *,
    project_id: int,
    agent_id: int | None,
    changes: Sequence[Recorded],
    at: datetime,
    new_files: Mapping[str, int] | None = None,
) -> None:
    """Count new changes, index and tell them, as the last statements of the transaction.

    `new_files`: the ids of files heard of for the first time, now, by their paths.
    """
    files = [resource_document(row_id, path, at) for path, row_id in (new_files or {}).items()]
    counts: Counter[CounterKey] = Counter(counter_key("change", change.layer_id) for change in changes)
    counts[counter_key("resource")] += len(files)
    add_to_counters(project_id, counts)
    index_documents(project_id, "resource", files, are_new=True)
    index_documents(project_id, "change", change_documents(changes), are_new=True)
    events = [Change("change", c.change, f"resource:{c.path}", _data(c), c.told_at or c.at) for c in changes]
    record(project_id=project_id, agent_id=agent_id, changes=events, at=at)


def record_correction(
    *, project_id: int, agent_id: int | None, verb: str, was: Recorded, now: Recorded | None, at: datetime
) -> None:
    """Somebody put a change right, or took it away: the log is of files, so this is told of the change."""
    counts: Counter[CounterKey] = Counter({counter_key("change", was.layer_id): -1})
    if now:
        counts[counter_key("change", now.layer_id)] += 1
    add_to_counters(project_id, counts)
    if now:
        index_again(project_id, "change", [now.id])
    told = Change("change", verb, f"change:{was.id}", {"note": f"{was.change} {was.path}"})
    record(project_id=project_id, agent_id=agent_id, changes=[told], at=at)


def count_files(project_id: int, by: int) -> None:
    add_to_counters(project_id, Counter({counter_key("resource"): by}))


def count_gone(project_id: int, layers: Mapping[int, int | None]) -> None:
    """Changes that have aged away, by their ids: told once, by whoever cleans."""
    gone = Counter(counter_key("change", layer_id) for layer_id in layers.values())
    add_to_counters(project_id, Counter({where: -count for where, count in gone.items()}))
    forget(project_id, "change", layers)


def _data(change: Recorded) -> dict[str, Any]:
    return {"id": change.id, **({"note": change.description[:200]} if change.description else {})}
