"""Builds the search documents of constraints."""

from ctxhub.core.search.documents import Document
from ctxhub.core.text.glob_syntax import not_exempting
from memory.constraints.models import ConstraintStatus
from memory.constraints.rows import ConstraintRow


def constraint_document(row: ConstraintRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"constraint:{row.id}",
        title=row.category,
        body="\n\n".join(line for line in (row.text, row.reason) if line),
        at=row.updated_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        layer_id=row.layer_id,
        readable=(0, len(row.text)),
        mark="" if row.status == ConstraintStatus.ACTIVE else row.status_label,
        unshown=(", ".join(sorted(row.scopes, key=str.casefold)), ", ".join(not_exempting(row.paths))),
    )
