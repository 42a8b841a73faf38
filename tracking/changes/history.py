"""Records file changes in the counters, the search index and the event log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events import log
from ctxhub.core.events.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.history import NONE, Change, History
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.documents import Document
from ctxhub.core.search.index import KindDocument, forget
from tracking.changes.rows import CHANGES, ChangeRow
from tracking.files.history import resource_document


def change_document(change: ChangeRow) -> Document | None:
    """None without a description: it would say no more than the document of its file."""
    if not change.description:
        return None
    return Document(
        object_id=change.id,
        ref=f"change:{change.id}",
        title=change.path,
        body=change.description,
        at=change.at,
        agent_id=change.agent_id,
        layer_id=change.layer_id,
    )


FILE = "resource:"


@frozen
class New:
    """What is recorded with a new change: its file, if that is new, too; the time of the event, if that is
    not the change's.
    """

    file: Document | None = None
    recorded_at: datetime | None = None


class ChangeHistory(History[ChangeRow]):
    """The `detail` of a change that a service or an importer makes is a `New`."""

    kind = "change"
    table = CHANGES
    compared = ("resource", "change", "agent", "layer", "description", "at")
    counted_by = ("layer_id",)

    def document(self, row: ChangeRow) -> Document | None:
        return change_document(row)

    def count(self, changes: Sequence[Change[ChangeRow]]) -> Counter[CounterKey]:
        counts = super().count(changes)
        counts[counter_key("resource")] += len(_new_files(changes))
        return counts

    def index(
        self, project_id: int, changes: Sequence[Change[ChangeRow]], states: Mapping[int, Any] = NONE
    ) -> None:
        super().index(project_id, changes, states)
        forget(
            project_id, self.kind, [c.row.id for c in changes if c.old and c.new and not c.new.description]
        )

    def made_beside(self, changes: Sequence[Change[ChangeRow]]) -> Sequence[KindDocument]:
        return [("resource", file) for file in _new_files(changes)]

    def event(self, change: Change[ChangeRow], at: datetime) -> log.Change:
        """A new change is an event of its file; a correction or deletion is one of the change."""
        row, new = change.row, change.detail or New()
        if change.old or change.is_restored:
            return super().event(change, at)
        data = {
            "id": row.id,
            **({"imported": True} if new.recorded_at else {}),
            **({"note": row.description[:200]} if row.description else {}),
        }
        return log.Change(self.kind, row.change_label, f"{FILE}{row.path}", data, new.recorded_at or row.at)

    def data(self, change: Change[ChangeRow]) -> dict[str, Any]:
        return {"note": f"{change.old.change_label} {change.old.path}"} if change.old else {}

    def saved(self, project_id: int, old: ChangeRow | None, row: ChangeRow) -> ChangeRow:
        return row

    def acting_agent(self, project_id: int, change: Change[ChangeRow], at: datetime) -> int | None:
        return super().acting_agent(project_id, change, at) if change.old else change.row.agent_id


HISTORY = ChangeHistory()


def new_changes(
    rows: Sequence[ChangeRow], new_files: Mapping[str, int], at: datetime, recorded_at: datetime | None = None
) -> list[Change[ChangeRow]]:
    """New changes, the first of each new file with that. `new_files`: ids by path, created `at`."""
    files = {path: resource_document(row_id, path, at) for path, row_id in new_files.items()}
    return [HISTORY.change(None, row, detail=New(files.pop(row.path, None), recorded_at)) for row in rows]


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


def _new_files(changes: Sequence[Change[ChangeRow]]) -> list[Document]:
    return [change.detail.file for change in changes if change.detail and change.detail.file]
