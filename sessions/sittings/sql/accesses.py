"""SQL of accesses: pages of them, newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.pages import Condition


@frozen
class AccessRow:
    id: int
    path: str
    access: int
    agent: str
    session_id: int
    at: datetime


@frozen
class AccessQuery:
    """The filters of a list. The first given of file, session, agent and project has an index of its own."""

    project_id: int
    resource_id: int | None = None
    session_id: int | None = None
    agent_id: int | None = None
    access: int | None = None
    since: datetime | None = None

    def conditions(self) -> list[Condition]:
        # A file and a session belong to one project. The plus keeps SQLite, which has no statistics, off the
        # other indexes.
        leading = [
            ("resource_id", self.resource_id),
            ("session_id", self.session_id),
            ("agent_id", self.agent_id),
            ("project_id", None if self.resource_id or self.session_id else self.project_id),
        ]
        given = [(column, value) for column, value in leading if value is not None]
        plus = "+" if connection.vendor == "sqlite" else ""
        found: list[Condition] = [
            (f"{plus if n else ''}a.{column} = %s", [value]) for n, (column, value) in enumerate(given)
        ]
        if self.access is not None:
            found.append(("a.access = %s", [self.access]))
        if self.since is not None:
            found.append(("a.created_at >= %s", [sql.stored_time(self.since)]))
        return found


def list_accesses(query: AccessQuery, limit: int, after: tuple[datetime, int] | None) -> list[AccessRow]:
    """One page, newest first, after the key (at, id)."""
    conditions = query.conditions()
    if after:
        conditions.append(("(a.created_at, a.id) < (%s, %s)", [sql.stored_time(after[0]), after[1]]))
    where, values = _joined(conditions)
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT a.id FROM agent_sessions_access a WHERE {where}
            ORDER BY a.created_at DESC, a.id DESC LIMIT %s)
        SELECT a.id, r.path, a.access, coalesce(g.name, 'system'), a.session_id, a.created_at
        FROM page CROSS JOIN agent_sessions_access a
        JOIN tracking_resource r ON r.id = a.resource_id LEFT JOIN core_agent g ON g.id = a.agent_id
        WHERE a.id = page.id ORDER BY a.created_at DESC, a.id DESC"""
    return [
        AccessRow(row_id, path, access, agent, session_id, sql.read_time(at))
        for row_id, path, access, agent, session_id, at in sql.rows(statement, [*values, limit])
    ]


def count_accesses(query: AccessQuery, at_most: int) -> int:
    """How many accesses a list has, counted up to `at_most`."""
    where, values = _joined(query.conditions())
    [(count,)] = sql.rows(
        f"SELECT count(*) FROM (SELECT 1 FROM agent_sessions_access a WHERE {where} LIMIT %s) c",
        [*values, at_most],
    )
    return int(count)


def _joined(conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
    values = [value for _, some in conditions for value in some]
    return " AND ".join(text for text, _ in conditions), values
