"""Rows of objects that bear on paths, and what is stale of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.pages import FEW, Condition
from ctxhub.core.kit.rows import Computed, Row

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


@frozen(kw_only=True)
class PathRow(Row):
    """`stale`: how many changes of the files count since the row was last written or confirmed."""

    paths: Sequence[str] = ()
    stale: int = 0
    stale_since: datetime | None = None


def staleness(kind: str) -> dict[str, Computed]:
    """The computed fields of a table of PathRow."""
    first = f"FROM core_pathpattern p WHERE p.kind = '{kind}' AND p.object_id = d.id AND p.position = 0"
    return {
        "stale": Computed(f"(SELECT p.stale {first})", lambda count: count or 0),
        "stale_since": Computed(f"(SELECT p.stale_since {first})", lambda at: at and sql.read_time(at)),
    }


def shown_staleness(row: PathRow) -> dict[str, Any]:
    """`stale` and `stale_since` as answers show them; nothing of a row that is not stale."""
    if not row.stale or not row.stale_since:
        return {}
    return {"stale": row.stale, "stale_since": format_time(row.stale_since)}
