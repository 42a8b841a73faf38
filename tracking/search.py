"""Search documents of files."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import Document
from tracking.sql.resources import indexed_files


def resource_document(row_id: int, path: str, at: datetime, content: str = "") -> Document:
    ref = f"resource:{path}"
    return Document(row_id, ref, title=path, body=content, at=at, readable=(0, len(content)))


def resource_documents(project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]:
    return indexed_files(project_id, ids).then(lambda rows: [resource_document(*row) for row in rows])
