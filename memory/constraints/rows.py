"""Constraint rows, their table, and the sort order of lists."""

from collections.abc import Sequence

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.pages import ALL, Range
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.rows import Derived, Table
from ctxhub.core.paths.rows import PathRow, staleness
from memory.constraints.models import Constraint, ConstraintStatus, digest_of, rank_of


@frozen(kw_only=True)
class ConstraintRow(PathRow):
    category: str
    category_id: int = 0
    text: str
    priority: int = Priority.MEDIUM
    status: int = ConstraintStatus.ACTIVE
    layer: str | None = None
    layer_id: int | None = None
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    reason: str = ""

    @property
    def priority_label(self) -> str:
        return str(Priority(self.priority).label)

    @property
    def status_label(self) -> str:
        return str(ConstraintStatus(self.status).label)

    @property
    def digest(self) -> str:
        return digest_of(self.text)

    @property
    def rank(self) -> str:
        return rank_of(self.priority, self.category)


CONSTRAINTS = Table(
    Constraint,
    ConstraintRow,
    derived={
        "digest": Derived(of=["text"], value=lambda row: row.digest),
        "rank": Derived(of=["priority", "category"], value=lambda row: row.rank),
    },
    computed=staleness("constraint"),
)

# The most urgent first, then by category, then the newest.
ORDER = ("rank", "-created_at", "-id")


def find_same(project_id: int, category_id: int, digest: str) -> ConstraintRow | None:
    """Return the constraint of this category with this text digest, or None."""
    found = CONSTRAINTS.find(project_id, ("d.category_id = %s AND d.digest = %s", [category_id, digest]))
    return found[0] if found else None


def ranks_of(priority: Priority | None, category: str | None) -> Sequence[Range]:
    """Return the rank ranges of a priority, of a category (case-folded name), of both, or of everything."""
    if category is not None:
        priorities = [priority] if priority else sorted(Priority, reverse=True)
        return [Range(rank_of(each, category), is_one=True) for each in priorities]
    return [Range(rank_of(priority, ""), rank_of(priority - 1, ""))] if priority else [ALL]


def update_ranks(category_id: int, casefolded: str) -> None:
    """Recompute the rank of a category's constraints, and its copies on links, after a rename."""
    sql.execute(
        "UPDATE memory_constraint SET rank = CAST(%s - priority AS TEXT) || %s WHERE category_id = %s",
        [max(Priority), casefolded, category_id],
    )
    CONSTRAINTS.keep_copies(("IN (SELECT id FROM memory_constraint WHERE category_id = %s)", [category_id]))
