"""Records file changes in the counters, the search index and the event log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.services.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.search.services.index import forget, index_again, index_documents
from tracking.search import change_documents, resource_document
from tracking.sql.changes import Recorded

FILE = "resource:"


def record_changes(
    *,
    project_id: int,
    agent_id: int | None,
    changes: Sequence[Recorded],
    at: datetime,
    new_files: Mapping[str, int] | None = None,
) -> None:
    """Count and index new changes and write their events, as the last statements of the transaction.

    `new_files`: ids by path of the files created in this transaction.
    """
    files = [resource_document(row_id, path, at) for path, row_id in (new_files or {}).items()]
    counts: Counter[CounterKey] = Counter(counter_key("change", change.layer_id) for change in changes)
    counts[counter_key("resource")] += len(files)
    add_to_counters(project_id, counts)
    index_documents(project_id, "resource", files, are_new=True)
    index_documents(project_id, "change", change_documents(changes), are_new=True)
    events = [Change("change", c.change, f"{FILE}{c.path}", _data(c), c.recorded_at or c.at) for c in changes]
    record(project_id=project_id, agent_id=agent_id, changes=events, at=at)


def record_correction(
    *, project_id: int, agent_id: int | None, verb: str, old: Recorded, new: Recorded | None, at: datetime
) -> None:
    """Record that a change was corrected or deleted. The event names the change, not the file."""
    counts: Counter[CounterKey] = Counter({counter_key("change", old.layer_id): -1})
    if new:
        counts[counter_key("change", new.layer_id)] += 1
    add_to_counters(project_id, counts)
    if new:
        index_again(project_id, "change", [new.id])
    event = Change("change", verb, f"change:{old.id}", {"note": f"{old.change} {old.path}"})
    record(project_id=project_id, agent_id=agent_id, changes=[event], at=at)


def count_files(project_id: int, by: int) -> None:
    add_to_counters(project_id, Counter({counter_key("resource"): by}))


def count_gone(project_id: int, layers: Mapping[int, int | None]) -> None:
    """Count and unindex expired changes (layer id by change id). Writes no event: the cleanup writes one."""
    removed = Counter(counter_key("change", layer_id) for layer_id in layers.values())
    add_to_counters(project_id, Counter({key: -count for key, count in removed.items()}))
    forget(project_id, "change", layers)


def changed_path(ref: str, data: Mapping[str, Any]) -> str | None:
    """The path of the file that an event says was changed; None for imports and corrections."""
    return ref.removeprefix(FILE) if ref.startswith(FILE) and not data.get("imported") else None


def _data(change: Recorded) -> dict[str, Any]:
    return {
        "id": change.id,
        **({"imported": True} if change.recorded_at else {}),
        **({"note": change.description[:200]} if change.description else {}),
    }
