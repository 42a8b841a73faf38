"""SQL of what agents wrote."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ctxhub.core.kit import sql

AT_ONCE = 1_000
TABLE = "agent_sessions_writing"
COLUMNS = (
    *("project_id", "agent_id", "kind", "object_id", "session_id", "session_name", "version"),
    *("began_at", "at"),
)


class NewWriting(NamedTuple):
    """`session_id`: None for none."""

    agent_id: int
    kind: str
    object_id: int
    session_id: int | None
    session_name: str
    version: str
    at: datetime


def write_writings(project_id: int, writings: Sequence[NewWriting]) -> list[int]:
    """Store that agents wrote things, the last version of each in a session; returns the ids of the rows."""
    newest = {each[:5]: each for each in sorted(writings, key=lambda each: each.at)}
    found: list[tuple[int]] = []
    for some in sql.chunks([*newest.values()], AT_ONCE):
        found += sql.insert(
            TABLE,
            COLUMNS,
            [
                (
                    *(project_id, w.agent_id, w.kind, w.object_id, w.session_id or 0, w.session_name),
                    *(w.version, sql.stored_time(w.at), sql.stored_time(w.at)),
                )
                for w in some
            ],
            "ON CONFLICT (project_id, kind, object_id, agent_id, session_id, session_name)"
            " DO UPDATE SET version = excluded.version, at = excluded.at RETURNING id",
        )
    return [row_id for (row_id,) in found]


def delete_writings(project_id: int, before: datetime, at_most: int) -> None:
    """Delete the oldest ones from before a time."""
    oldest = f"SELECT id FROM {TABLE} WHERE project_id = %s AND at < %s ORDER BY at LIMIT %s"
    sql.execute(
        f"DELETE FROM {TABLE} WHERE {sql.among_found('id', oldest)}",
        [project_id, sql.stored_time(before), at_most],
    )
