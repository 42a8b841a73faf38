"""The rows of contexts and their counters of memories."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Derived, Row, Table
from memory.contexts.models import Context


@frozen(kw_only=True)
class ContextRow(Row):
    name: str
    description: str = ""
    stack: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    memory_count: int = 0
    changed_at: datetime


CONTEXTS = Table(
    Context, ContextRow, derived={"folded": Derived(of=["name"], value=lambda row: row.name.casefold())}
)


def find_named(project_id: int, casefolded: str) -> ContextRow | None:
    """The context of a case-folded name."""
    found = CONTEXTS.find(project_id, ("d.folded = %s", [casefolded]))
    return found[0] if found else None


def ids_of_names(project_id: int, casefolded: Sequence[str]) -> dict[str, int]:
    """The ids of contexts by their case-folded names."""
    found = Context.objects.in_project(project_id).filter(folded__in=casefolded)
    return dict(found.values_list("folded", "pk"))


def newest_names(project_id: int, at_most: int) -> list[str]:
    found = Context.objects.in_project(project_id).order_by("-updated_at", "-pk")
    return list(found.values_list("name", flat=True)[:at_most])


def touch_contexts(differences: Mapping[int, int], at: datetime) -> None:
    """Add to the memory count of each context, by id, and set its `updated_at`."""
    for difference in sorted(set(differences.values())):
        ids = sorted(context for context, more in differences.items() if more == difference)
        among, values = sql.among("id", ids)
        sql.execute(
            f"UPDATE memory_context SET memory_count = memory_count + %s, updated_at = %s WHERE {among}",
            [difference, sql.stored_time(at), *values],
        )


def count_again(context_id: int) -> None:
    """Recompute the memory count of a context."""
    sql.execute(
        """
        UPDATE memory_context SET memory_count = (SELECT count(*) FROM memory_memory WHERE context_id = %s)
        WHERE id = %s""",
        [context_id, context_id],
    )


def ids_in(context_ids: Sequence[int]) -> list[int]:
    """The ids of the memories of these contexts."""
    among, values = sql.among("context_id", context_ids)
    return [row_id for (row_id,) in sql.rows(f"SELECT id FROM memory_memory WHERE {among}", values)]
