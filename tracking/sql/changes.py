"""SQL of file changes: batch inserts, and pages read from an index, newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.pages import Condition
from tracking.models import ChangeKind

WHOLE = 2**20
COLUMNS = ("project_id", "resource_id", "agent_id", "change", "layer_id", "description", "at")


@frozen
class NewChange:
    resource_id: int
    change: int
    layer_id: int | None
    description: str
    at: datetime


@frozen
class ChangeRow:
    """A change with the names of related rows."""

    id: int
    path: str
    change: int
    by: str
    layer: str | None
    description: str
    at: datetime

    @property
    def change_label(self) -> str:
        return str(ChangeKind(self.change).label)


@frozen
class Recorded:
    """A stored change as history and search need it. `change`: its label.

    `recorded_at`: time of the event, if it differs from the time of the change.
    """

    id: int
    path: str
    change: str
    agent_id: int | None
    layer_id: int | None
    description: str
    at: datetime
    recorded_at: datetime | None = None


# -- Writing ---------------------------------------------------------------------------------------


def insert_changes(project_id: int, agent_id: int | None, changes: Sequence[NewChange]) -> list[int]:
    """Insert changes, each with a distinct time. Returns their ids in the same order."""
    records = [
        (project_id, c.resource_id, agent_id, c.change, c.layer_id, c.description, sql.stored_time(c.at))
        for c in changes
    ]
    rows = sql.insert("tracking_filechange", COLUMNS, records, "RETURNING at, id")
    ids = {sql.read_time(at): row_id for at, row_id in rows}
    return [ids[change.at] for change in changes]


def delete_changes(project_id: int, before: datetime, at_most: int) -> dict[int, int | None]:
    """Remove the oldest changes before a time. Returns their layer ids by change id."""
    oldest = "SELECT id FROM tracking_filechange WHERE project_id = %s AND at < %s ORDER BY at, id LIMIT %s"
    where = sql.among_found("id", oldest)
    statement = f"DELETE FROM tracking_filechange WHERE {where} RETURNING id, layer_id"
    return dict(sql.rows(statement, [project_id, sql.stored_time(before), at_most]))


# -- Reading ---------------------------------------------------------------------------------------


@frozen
class ChangeQuery:
    """Filters of a list. With `resource_ids` each file has its own index scan, else the project has one."""

    project_id: int
    conditions: Sequence[Condition]
    resource_ids: Sequence[int] | None = None


def list_changes(
    query: ChangeQuery, limit: int, after: tuple[datetime, int] | None, description: int = WHOLE
) -> list[ChangeRow]:
    """One page, newest first, after the key (at, id), with `description` characters of each description."""
    found, values = _page(query, limit, after)
    return _read(
        f"WITH page AS MATERIALIZED ({found})",
        "page CROSS JOIN",
        "c.id = page.id",
        values,
        limit,
        description,
    )


def read_changes(project_id: int, ids: Sequence[int]) -> list[ChangeRow]:
    if not ids:
        return []
    return _read("", "", *sql.by_ids("c", project_id, ids), len(ids))


def recorded_changes(project_id: int, ids: Sequence[int]) -> sql.Reading[list[Recorded]]:
    condition, values = sql.by_ids("c", project_id, ids)
    statement = f"""
        SELECT c.id, r.path, c.change, c.agent_id, c.layer_id, c.description, c.at
        FROM tracking_filechange c JOIN tracking_resource r ON r.id = c.resource_id
        WHERE {condition}"""
    return sql.Reading(
        statement,
        values,
        7,
        lambda rows: [
            Recorded(row_id, path, str(ChangeKind(change).label), agent_id, layer_id, text, sql.read_time(at))
            for row_id, path, change, agent_id, layer_id, text, at in rows
        ],
    )


def last_changes(resource_ids: Sequence[int], of_each: int) -> list[ChangeRow]:
    """The newest `of_each` changes of each of these files."""
    query = ChangeQuery(0, [], resource_ids)
    found, values = _page(query, of_each, None)
    limit = of_each * len(resource_ids)
    return _read(
        f"WITH page AS MATERIALIZED ({found})", "page CROSS JOIN", "c.id = page.id", values, limit, 200
    )


def last_by_another(project_id: int, path: str, folded: str, since: datetime) -> ChangeRow | None:
    """The newest change of a file after `since` that this agent did not make."""
    condition = """
        c.resource_id = (SELECT id FROM tracking_resource WHERE project_id = %s AND path = %s)
        AND c.at > %s AND (a.folded IS NULL OR a.folded <> %s)"""
    found = _read("", "", condition, [project_id, path, sql.stored_time(since), folded], 1, 0)
    return found[0] if found else None


def paths_changed(project_id: int, folded: str, since: datetime, at_most: int) -> list[tuple[int, str]]:
    """Id and path of the changes after `since` that this agent did not make, newest first."""
    return sql.rows(
        """
        SELECT c.id, r.path FROM tracking_filechange c JOIN tracking_resource r ON r.id = c.resource_id
        WHERE c.project_id = %s AND c.at > %s AND (c.agent_id IS NULL OR c.agent_id NOT IN
            (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s))
        ORDER BY c.at DESC, c.id DESC LIMIT %s""",
        [project_id, sql.stored_time(since), project_id, folded, at_most],
    )


def files_changed_by(project_id: int, folded: str, since: datetime, at_most: int) -> list[str]:
    """The files of an agent's changes after `since`, the newest changes first."""
    found = sql.rows(
        """
        SELECT r.path FROM tracking_filechange c JOIN tracking_resource r ON r.id = c.resource_id
        WHERE c.project_id = %s AND c.at > %s
            AND c.agent_id = (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)
        ORDER BY c.at DESC, c.id DESC LIMIT %s""",
        [project_id, sql.stored_time(since), project_id, folded, at_most],
    )
    return list(dict.fromkeys(path for (path,) in found))


def count_before(project_id: int, before: datetime) -> int:
    [(count,)] = sql.rows(
        "SELECT count(*) FROM tracking_filechange WHERE project_id = %s AND at < %s",
        [project_id, sql.stored_time(before)],
    )
    return int(count)


def count_by_layer(project_id: int, since: datetime) -> dict[int, int]:
    """Number of changes after `since` by layer id."""
    statement = """
        SELECT l.id, (SELECT count(*) FROM tracking_filechange c
            WHERE c.project_id = l.project_id AND c.layer_id = l.id AND c.at > %s)
        FROM core_layer l WHERE l.project_id = %s"""
    return dict(sql.rows(statement, [sql.stored_time(since), project_id]))


def _page(query: ChangeQuery, limit: int, after: tuple[datetime, int] | None) -> tuple[str, list[Any]]:
    conditions = list(query.conditions)
    if after:
        conditions.append(("(c.at, c.id) < (%s, %s)", [sql.stored_time(after[0]), after[1]]))
    if query.resource_ids is None:
        return _branch([("c.project_id = %s", [query.project_id]), *conditions], limit)
    # Without project_id: a file belongs to one project, and SQLite would choose the project's index.
    branches = [_branch([("c.resource_id = %s", [each]), *conditions], limit) for each in query.resource_ids]
    if len(branches) == 1:
        return branches[0]
    texts = [f"SELECT id FROM ({text}) arm{n}" for n, (text, _) in enumerate(branches)]
    return " UNION ALL ".join(texts), [value for _, values in branches for value in values]


def _branch(conditions: Sequence[Condition], limit: int) -> tuple[str, list[Any]]:
    where = " AND ".join(text for text, _ in conditions)
    values = [value for _, values in conditions for value in values]
    statement = f"SELECT c.id FROM tracking_filechange c WHERE {where} ORDER BY c.at DESC, c.id DESC LIMIT %s"
    return statement, [*values, limit]


def _read(
    before: str, source: str, where: str, values: Sequence[Any], limit: int, description: int = WHOLE
) -> list[ChangeRow]:
    statement = f"""
        {before}
        SELECT c.id, r.path, c.change, coalesce(a.name, 'system'), l.name,
            substr(c.description, 1, {description}), c.at
        FROM {source} tracking_filechange c JOIN tracking_resource r ON r.id = c.resource_id
        LEFT JOIN core_agent a ON a.id = c.agent_id LEFT JOIN core_layer l ON l.id = c.layer_id
        WHERE {where} ORDER BY c.at DESC, c.id DESC LIMIT %s"""
    return [
        ChangeRow(row_id, path, change, by, layer, text, sql.read_time(at))
        for row_id, path, change, by, layer, text, at in sql.rows(statement, [*values, limit])
    ]
