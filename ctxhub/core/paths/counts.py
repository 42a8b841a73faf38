"""SQL of staleness: the changes that are not counted yet, and the counts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.paths.rows import stale_patterns

# If more than one in so many objects is stale, it says nothing of one of them.
ONE_IN = 3


class NewEvent(NamedTuple):
    """An event that may be a change of a file."""

    id: int
    noun: str
    agent_id: int | None
    at: datetime
    ref: str
    data: dict[str, Any]


class Written(NamedTuple):
    """Who wrote a row last, and when. `folders_at`: of the change that counted last for its day."""

    agent_id: int | None
    at: datetime
    folders_at: datetime | None


class NewChanges(NamedTuple):
    """How many new changes count on an object, when the first was, and the new `folders_at`."""

    kind: str
    object_id: int
    changes: int
    since: datetime
    folders_at: datetime | None


def read_position(project_id: int) -> tuple[int, int]:
    """The event up to which changes are counted, and the newest event; 0 if there is none."""
    [(counted, newest)] = sql.rows(
        """
        SELECT coalesce((SELECT event_id FROM core_stalecursor WHERE project_id = %s), 0),
            coalesce((SELECT max(id) FROM core_event WHERE project_id = %s), 0)""",
        [project_id, project_id],
    )
    return counted, newest


def store_position(project_id: int, event_id: int) -> None:
    sql.insert(
        "core_stalecursor",
        ("project_id", "event_id"),
        [(project_id, event_id)],
        "ON CONFLICT (project_id) DO UPDATE SET event_id = excluded.event_id",
    )


def read_events(
    project_id: int, nouns: Sequence[str], after: int, until: int, at_most: int
) -> list[NewEvent]:
    """The events of these nouns after one and up to another, oldest first."""
    among, values = sql.among("noun", nouns)
    found = sql.rows(
        f"""
        SELECT id, noun, agent_id, at, ref, data FROM core_event
        WHERE project_id = %s AND id > %s AND id <= %s AND {among} ORDER BY id LIMIT %s""",
        [project_id, after, until, *values, at_most],
    )
    return [
        NewEvent(event_id, noun, agent_id, sql.read_time(at), ref, sql.read_json(data))
        for event_id, noun, agent_id, at, ref, data in found
    ]


def read_written(kind: str, table: str, project_id: int, ids: Sequence[int]) -> dict[int, Written]:
    """By the ids of rows of a kind and its table of objects with paths."""
    where, values = sql.by_ids("d", project_id, ids)
    found = sql.rows(
        f"""
        SELECT d.id, d.agent_id, d.updated_at, (SELECT p.folders_at FROM core_pathpattern p
            WHERE p.kind = %s AND p.object_id = d.id AND p.position = 0)
        FROM {table} d WHERE {where}""",
        [kind, *values],
    )
    return {
        row_id: Written(agent_id, sql.read_time(at), folders_at and sql.read_time(folders_at))
        for row_id, agent_id, at, folders_at in found
    }


def add_changes(changes: Sequence[NewChanges]) -> None:
    """Add to the counts, which the first row of each object has."""
    moment = "::timestamptz" if connection.vendor == "postgresql" else ""
    records = ", ".join([f"(%s, %s, %s, %s{moment}, %s{moment})"] * len(changes))
    values = [
        value
        for each in changes
        for value in (*each[:3], *(at and sql.stored_time(at) for at in (each.since, each.folders_at)))
    ]
    sql.execute(
        f"""
        WITH new(kind, object_id, changes, since, folders_at) AS (VALUES {records})
        UPDATE core_pathpattern
        SET stale = stale + new.changes, stale_since = coalesce(stale_since, new.since),
            folders_at = coalesce(new.folders_at, core_pathpattern.folders_at)
        FROM new
        WHERE core_pathpattern.kind = new.kind AND core_pathpattern.object_id = new.object_id
            AND core_pathpattern.position = 0""",
        values,
    )


class StaleShare(NamedTuple):
    """How many objects of a project are stale, of those that can be: in force, with paths, of every kind.

    `of`: counted up to ONE_IN times `stale`; further ones make no difference.
    """

    stale: int = 0
    of: int = 0

    @property
    def is_large(self) -> bool:
        """Whether more than one in ONE_IN is stale."""
        return ONE_IN * self.stale > self.of


class StaleObject(NamedTuple):
    """The count of a stale object, and the time of its first change. `share`: if asked for."""

    kind: str
    object_id: int
    changes: int
    since: datetime
    share: StaleShare


def read_stale(
    project_id: int, kinds: Sequence[str], ids: Sequence[int], *, with_share: bool = False
) -> list[StaleObject]:
    """The stale objects of these kinds and ids."""
    of_kinds, kind_values = sql.among("kind", kinds)
    of_ids, id_values = sql.among("object_id", ids)
    share, share_values = share_of_stale(project_id) if with_share else (("0", "0"), [])
    found = sql.rows(
        f"""
        SELECT kind, object_id, stale, stale_since, {", ".join(share)} FROM core_pathpattern
        WHERE {of_kinds} AND {of_ids} AND {stale_patterns()} AND project_id = %s""",
        [*share_values, *kind_values, *id_values, project_id],
    )
    return [
        StaleObject(kind, object_id, changes, sql.read_time(since), StaleShare(*numbers))
        for kind, object_id, changes, since, *numbers in found
    ]


def share_of_stale(project_id: int) -> tuple[tuple[str, str], list[Any]]:
    """The numbers of StaleShare as columns, and their values. The engines count once, where they need it."""
    # Indexes answer both: first patterns alone count, and have no index but core_pathpattern_first.
    stale = "SELECT count(*) FROM core_pathpattern s WHERE s.project_id = %s AND s.stale > 0"
    some = (
        "SELECT 1 FROM core_pathpattern f WHERE f.project_id = %s AND f.position = 0 AND f.pattern > ''"
        f" LIMIT {ONE_IN} * ({stale})"
    )
    return (f"({stale})", f"(SELECT count(*) FROM ({some}) counted)"), [project_id] * 3


class StaleKind(NamedTuple):
    """The number of stale objects of a project and kind.

    `pattern`, `changes` and `since`: of the object of any kind in the project that is stale longest.
    """

    project_id: int
    kind: str
    objects: int
    pattern: str
    changes: int
    since: datetime


def read_stale_kinds(project_ids: Sequence[int]) -> list[StaleKind]:
    among, values = sql.among("p.project_id", project_ids)
    # The index core_pathpattern_stale ends in the order of the first one.
    found = sql.rows(
        f"""
        SELECT g.project_id, g.kind, g.objects, f.pattern, f.stale, f.stale_since
        FROM (SELECT p.project_id, p.kind, count(*) AS objects FROM core_pathpattern p
            WHERE {among} AND {stale_patterns("p")} GROUP BY p.project_id, p.kind) g
        JOIN core_pathpattern f ON f.id = (
            SELECT x.id FROM core_pathpattern x WHERE x.project_id = g.project_id AND {stale_patterns("x")}
            ORDER BY x.stale_since, x.id LIMIT 1)
        ORDER BY g.project_id, g.kind""",
        values,
    )
    return [
        StaleKind(project_id, kind, objects, pattern, changes, sql.read_time(since))
        for project_id, kind, objects, pattern, changes, since in found
    ]


def read_patterns(project_id: int, kind: str, ids: Sequence[int]) -> dict[int, list[tuple[int, str, str]]]:
    """Position, pattern and head of all patterns of objects, by their ids."""
    among, values = sql.among("object_id", ids)
    rows = sql.rows(
        f"""
        SELECT object_id, position, pattern, head FROM core_pathpattern
        WHERE kind = %s AND {among} AND project_id = %s ORDER BY object_id, position""",
        [kind, *values, project_id],
    )
    found: dict[int, list[tuple[int, str, str]]] = {}
    for object_id, *pattern in rows:
        found.setdefault(object_id, []).append((pattern[0], pattern[1], pattern[2]))
    return found


def objects_with_patterns(project_id: int, kinds: Sequence[str] = ()) -> list[tuple[str, int]]:
    """Kind and id of the objects with patterns; `kinds`: only of these."""
    among, values = sql.among("kind", kinds) if kinds else ("1 = 1", [])
    return sql.rows(
        f"SELECT DISTINCT kind, object_id FROM core_pathpattern WHERE project_id = %s AND {among}",
        [project_id, *values],
    )


class WrittenPattern(NamedTuple):
    """A pattern of an object, and whether it is the first."""

    project_id: int
    kind: str
    object_id: int
    pattern: str
    is_first: bool


def read_unusual_patterns(at_most: int) -> list[WrittenPattern]:
    """Up to so many patterns of all projects with braces, round brackets, or a `!` before all others."""
    found = sql.rows(
        """
        SELECT project_id, kind, object_id, pattern, position FROM core_pathpattern
        WHERE pattern LIKE '%%{%%,%%}%%' OR pattern LIKE '%%(%%' OR (position = 0 AND pattern LIKE '!%%')
        ORDER BY project_id, kind, object_id, position LIMIT %s""",
        [at_most],
    )
    return [
        WrittenPattern(project_id, kind, object_id, pattern, is_first=position == 0)
        for project_id, kind, object_id, pattern, position in found
    ]
