"""Search documents of files and their changes."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.search.documents import Document
from tracking.sql.changes import Recorded, read_recorded
from tracking.sql.resources import read_indexed


def resource_document(row_id: int, path: str, at: datetime, content: str = "") -> Document:
    ref = f"resource:{path}"
    return Document(row_id, ref, title=path, body=content, at=at, readable=(0, len(content)))


def read_resource_documents(project_id: int, ids: Sequence[int]) -> list[Document]:
    return [resource_document(*row) for row in read_indexed(project_id, ids)]


def change_documents(changes: Sequence[Recorded]) -> list[Document]:
    """Documents of changes with a description; the others say no more than their files' documents."""
    return [_change_document(change) for change in changes if change.description]


def read_change_documents(project_id: int, ids: Sequence[int]) -> list[Document]:
    return change_documents(read_recorded(project_id, ids))


def _change_document(change: Recorded) -> Document:
    return Document(
        object_id=change.id,
        ref=f"change:{change.id}",
        title=change.path,
        body=change.description,
        at=change.at,
        agent_id=change.agent_id,
        layer_id=change.layer_id,
    )
