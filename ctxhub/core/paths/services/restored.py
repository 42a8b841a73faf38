"""Writes how stale objects were that come back from the bin."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core.kit import sql


def write_stale(rows: Sequence[Mapping[str, Any]]) -> None:
    """Give the globs of objects the counts that they had; `rows` hold the columns of PathPattern as JSON."""
    for row in rows:
        if row["stale"]:
            sql.execute(
                "UPDATE core_pathpattern SET stale = %s, stale_since = %s, folders_at = %s"
                " WHERE kind = %s AND object_id = %s AND position = %s AND pattern = %s",
                [
                    row["stale"],
                    *(_time(row[column]) for column in ("stale_since", "folders_at")),
                    *(row[column] for column in ("kind", "object_id", "position", "pattern")),
                ],
            )


def _time(value: str | None) -> Any:
    return sql.stored_time(sql.read_time(value)) if value else None
