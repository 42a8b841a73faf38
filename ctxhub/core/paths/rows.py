"""Rows of objects that bear on paths."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Computed, Row


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
