"""What constraints are found by."""

from collections.abc import Sequence

from ctxhub.core.models import Category, Scope, Tag
from ctxhub.core.models.base import NamedRow
from ctxhub.core.search.documents import Document
from ctxhub.core.search.words_shown import Fields, ids_showing
from memory.models import Constraint, ConstraintStatus
from memory.sql.constraint_rows import ConstraintRow, read_constraints

SHOWN: Fields = {Category: "category", Tag: "tags", Scope: "scopes"}


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
        mark="" if row.status == ConstraintStatus.ACTIVE else row.spoken_status,
        unshown=(", ".join(sorted(row.scopes, key=str.casefold)), ", ".join(row.paths)),
    )


def read_constraint_documents(project_id: int, ids: Sequence[int]) -> list[Document]:
    return [constraint_document(row) for row in read_constraints(project_id, ids).values()]


def constraints_showing(word: NamedRow) -> list[int]:
    return ids_showing(Constraint, word, SHOWN)
