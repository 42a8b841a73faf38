"""Rows of file changes, their table, and pages read from an index, newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import PREVIEW_CHARACTERS
from ctxhub.core.kit.ordering import NEWEST_FIRST, Way
from ctxhub.core.kit.pages import Condition
from ctxhub.core.kit.rows import AuthoredRow, Computed, Table
from tracking.models import ChangeKind, FileChange


@frozen(kw_only=True)
class ChangeRow(AuthoredRow):
    """`resource`: the path of its file. `beginning`: that of the description, for lists."""

    resource: str = ""
    resource_id: int = 0
    change: int
    layer: str | None = None
    layer_id: int | None = None
    description: str = ""
    beginning: str = ""
    at: datetime

    @property
    def path(self) -> str:
        return self.resource

    @property
    def change_label(self) -> str:
        return str(ChangeKind(self.change).label)


CHANGES = Table(
    FileChange,
    ChangeRow,
    computed={"beginning": Computed(f"substr(d.description, 1, {PREVIEW_CHARACTERS + 1})")},
    shown={"resource": "path"},
)
# The columns that lists read: no long texts.
LISTED = ("id", "agent", "resource", "change", "layer", "beginning", "at")


# -- Writing ---------------------------------------------------------------------------------------


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
    query: ChangeQuery, limit: int, after: tuple[datetime, int] | None, way: Way = NEWEST_FIRST
) -> list[ChangeRow]:
    """One page, newest first unless `way` says so, after the key (at, id), without whole descriptions."""
    return _read(*_page(query, limit, after, way), limit, way)


def last_changes(resource_ids: Sequence[int], of_each: int) -> list[ChangeRow]:
    """The newest `of_each` changes of each of these files."""
    found, values = _page(ChangeQuery(0, [], resource_ids), of_each, None)
    return _read(found, values, of_each * len(resource_ids))


def last_by_another(project_id: int, path: str, folded: str, since: datetime) -> ChangeRow | None:
    """The newest change of a file after `since` that this agent did not make."""
    statement = f"""
        SELECT {CHANGES.selected(LISTED)}
        WHERE d.resource_id = (SELECT id FROM tracking_resource WHERE project_id = %s AND path = %s)
        AND d.at > %s AND (agent.folded IS NULL OR agent.folded <> %s)
        ORDER BY d.at DESC, d.id DESC LIMIT 1"""
    found = sql.rows(statement, [project_id, path, sql.stored_time(since), folded])
    return next(iter(CHANGES.as_rows(found, LISTED)), None)


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


def _page(
    query: ChangeQuery, limit: int, after: tuple[datetime, int] | None, way: Way = NEWEST_FIRST
) -> tuple[str, list[Any]]:
    conditions = list(query.conditions)
    if after:
        position = [sql.stored_time(after[0]), after[1]]
        conditions.append((f"(d.at, d.id) {way.beyond} (%s, %s)", position))
    if query.resource_ids is None:
        return _branch([("d.project_id = %s", [query.project_id]), *conditions], limit, way)
    # Without project_id: a file belongs to one project, and SQLite would choose the project's index.
    branches = [
        _branch([("d.resource_id = %s", [each]), *conditions], limit, way) for each in query.resource_ids
    ]
    if len(branches) == 1:
        return branches[0]
    texts = [f"SELECT id FROM ({text}) arm{n}" for n, (text, _) in enumerate(branches)]
    return " UNION ALL ".join(texts), [value for _, values in branches for value in values]


def _branch(conditions: Sequence[Condition], limit: int, way: Way) -> tuple[str, list[Any]]:
    where = " AND ".join(text for text, _ in conditions)
    values = [value for _, values in conditions for value in values]
    order = way.of("d.at", "d.id")
    statement = f"SELECT d.id FROM tracking_filechange d WHERE {where} ORDER BY {order} LIMIT %s"
    return statement, [*values, limit]


def _read(page: str, values: Sequence[Any], limit: int, way: Way = NEWEST_FIRST) -> list[ChangeRow]:
    statement = f"""
        WITH page AS MATERIALIZED ({page})
        SELECT {CHANGES.selected(LISTED, "page CROSS JOIN")}
        WHERE d.id = page.id ORDER BY {way.of("d.at", "d.id")} LIMIT %s"""
    return CHANGES.as_rows(sql.rows(statement, [*values, limit]), LISTED)
