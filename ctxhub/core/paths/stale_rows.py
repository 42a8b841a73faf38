"""What is stale: its first pattern counts changes of its files. Marks, lists and pages ask for it here."""

from collections.abc import Sequence

from django.db.models import Q

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.pages import FEW, Condition

STALE = Q(position=0, stale__gt=0)


def stale_patterns(alias: str = "") -> str:
    """The condition that a row of `core_pathpattern` counts for a stale object.

    The index `core_pathpattern_stale` holds only rows with its second half.
    """
    of = f"{alias}." if alias else ""
    return f"{of}position = 0 AND {of}stale > 0"


@frozen
class StaleFilter:
    """Keeps the stale rows of a list, or the others. `ids`: the stale ones, if they are wanted and few."""

    conditions: Sequence[Condition] = ()
    ids: Sequence[int] | None = None


def stale_filter(project_id: int, kind: str, wanted: bool | None) -> StaleFilter:
    """`wanted`: whether the rows are stale; None keeps all of them, and takes no query."""
    if wanted is None:
        return StaleFilter()
    found = _stale_ids(project_id, kind, FEW + 1) if wanted else []
    if wanted and len(found) <= FEW:
        return StaleFilter(ids=found)
    exists = "EXISTS" if wanted else "NOT EXISTS"
    counted = f"p.kind = %s AND p.object_id = d.id AND {stale_patterns('p')}"
    return StaleFilter([(f"{exists} (SELECT 1 FROM core_pathpattern p WHERE {counted})", [kind])])


def _stale_ids(project_id: int, kind: str, at_most: int) -> list[int]:
    found = sql.rows(
        f"""
        SELECT p.object_id FROM core_pathpattern p
        WHERE p.project_id = %s AND p.kind = %s AND {stale_patterns("p")} LIMIT %s""",
        [project_id, kind, at_most],
    )
    return [row_id for (row_id,) in found]
