"""Records new files, new contents and marks of files. Only marks leave an event."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import Document
from ctxhub.core.search.index import index_documents
from tracking.files.rows import indexed_files


def resource_document(row_id: int, path: str, at: datetime, content: str = "") -> Document:
    ref = f"resource:{path}"
    return Document(row_id, ref, title=path, body=content, at=at, readable=(0, len(content)))


def resource_documents(project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]:
    return indexed_files(project_id, ids).then(lambda rows: [resource_document(*row) for row in rows])


def record_files(project_id: int, *, new: Sequence[Document], changed: Sequence[Document]) -> None:
    """Count and index, as the last statements of the transaction."""
    add_to_counters(project_id, Counter({counter_key("resource"): len(new)}))
    index_documents(project_id, "resource", new, are_new=True)
    index_documents(project_id, "resource", changed)


def record_marks(
    project_id: int, agent_id: int | None, *, paths: Sequence[str], mark: int | None, at: datetime
) -> None:
    """Write the events of files whose mark was set, or taken away if it is None."""
    data = {"changed": ["importance"], "note": "computed" if mark is None else str(mark)}
    changes = [Change("resource", "updated", f"resource:{path}", data) for path in paths]
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)
