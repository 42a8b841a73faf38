"""What agents were given, in which of their sessions, and which of these are current."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.rows import stale_patterns
from memory.decisions.models import DecisionStatus

# The rows of a decision, or of a batch of them, that a change looks through, the newest first.
READ_AT_ONCE = 5_000
AT_ONCE = 2_000
# The newest stale things of a project, among which those are looked for that an agent was given.
STALE_READ = 500


class NewBriefing(NamedTuple):
    agent_id: int
    session_id: int | None
    session_name: str
    via: str
    tokens: int | None
    at: datetime


class NewItem(NamedTuple):
    briefing_id: int
    kind: str
    object_id: int
    version: str
    detail: str


class Reader(NamedTuple):
    """An agent that was given a thing or wrote it in a session, at `at` for the last time."""

    agent_id: int
    session_id: int | None
    session_name: str
    kind: str
    object_id: int
    at: datetime


class Outdated(NamedTuple):
    """A decision that was given or written, and has changed since."""

    reader: Reader
    key: str
    was: str
    now: str
    was_value: str
    now_value: str
    is_deprecated: bool
    reason: str
    changer_id: int


# -- Writing ---------------------------------------------------------------------------------------


def insert_briefings(project_id: int, briefings: Sequence[NewBriefing]) -> list[int]:
    found: list[tuple[int]] = []
    for some in sql.chunks(briefings, AT_ONCE):
        found += sql.insert(
            "agent_sessions_briefing",
            ("project_id", *NewBriefing._fields),
            [(project_id, *each[:-1], sql.stored_time(each.at)) for each in some],
            "RETURNING id",
        )
    return [row_id for (row_id,) in found]


def insert_items(project_id: int, items: Sequence[NewItem]) -> None:
    for some in sql.chunks(items, AT_ONCE):
        sql.insert(
            "agent_sessions_briefingitem",
            ("project_id", *NewItem._fields),
            [(project_id, *each) for each in some],
        )


def delete_briefings(project_id: int, before: datetime, at_most: int) -> int:
    """Delete the oldest briefings from before a time, with their items and old notices; returns how many."""
    moment = sql.stored_time(before)
    oldest = """
        SELECT id FROM agent_sessions_notice WHERE project_id = %s AND created_at < %s
        ORDER BY created_at LIMIT %s"""
    sql.execute(
        f"DELETE FROM agent_sessions_notice WHERE {sql.among_found('id', oldest)}",
        [project_id, moment, at_most],
    )
    found = sql.rows(
        "SELECT id FROM agent_sessions_briefing WHERE project_id = %s AND at < %s ORDER BY at, id LIMIT %s",
        [project_id, moment, at_most],
    )
    if ids := [row_id for (row_id,) in found]:
        for table, column in (("briefingitem", "briefing_id"), ("briefing", "id")):
            among, values = sql.among(column, ids)
            sql.execute(f"DELETE FROM agent_sessions_{table} WHERE {among}", values)
    return len(ids)


# -- Reading ---------------------------------------------------------------------------------------


def find_readers(project_id: int, kind: str, object_ids: Sequence[int], *, but: int) -> list[Reader]:
    """The agents that were given these things or wrote them, the last ones first; without the agent `but`."""
    among, values = sql.among("object_id", object_ids)
    found = sql.rows(
        f"""
        SELECT agent_id, session_id, session_name, kind, object_id, max(at) FROM (
            SELECT b.agent_id, b.session_id, b.session_name, i.kind, i.object_id, b.at
            FROM (
                SELECT briefing_id, kind, object_id FROM agent_sessions_briefingitem
                WHERE project_id = %s AND kind = %s AND {among} ORDER BY briefing_id DESC LIMIT %s) i
            JOIN agent_sessions_briefing b ON b.id = i.briefing_id
            UNION ALL
            SELECT agent_id, nullif(session_id, 0), session_name, kind, object_id, at
            FROM agent_sessions_writing WHERE project_id = %s AND kind = %s AND {among}) given
        WHERE agent_id <> %s
        GROUP BY agent_id, session_id, session_name, kind, object_id ORDER BY max(at) DESC LIMIT %s""",
        [project_id, kind, *values, READ_AT_ONCE, project_id, kind, *values, but, READ_AT_ONCE],
    )
    return [_reader(row) for row in found]


def find_given(
    project_id: int, folded: str, kind: str, object_ids: Sequence[int], since: datetime
) -> list[int]:
    """Those of the things that an agent was given after a time."""
    among, values = sql.among("i.object_id", object_ids)
    found = sql.rows(
        f"""
        SELECT DISTINCT i.object_id
        FROM agent_sessions_briefingitem i JOIN agent_sessions_briefing b ON b.id = i.briefing_id
        WHERE i.project_id = %s AND i.kind = %s AND {among} AND b.at > %s
        AND b.agent_id = (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)""",
        [project_id, kind, *values, sql.stored_time(since), project_id, folded],
    )
    return [object_id for (object_id,) in found]


def find_stale(project_id: int, agent_id: int) -> list[tuple[Reader, int, datetime]]:
    """The stale things that an agent was given or wrote, with how many changes and since when, latest first.

    Of the newest STALE_READ of the project, and without those that it was told of since they are stale.
    """
    found = sql.rows(
        f"""
        WITH p AS MATERIALIZED (
            SELECT kind, object_id, stale, stale_since FROM core_pathpattern
            WHERE project_id = %s AND {stale_patterns()} ORDER BY stale_since DESC LIMIT %s)
        SELECT agent_id, session_id, session_name, kind, object_id, max(at), stale, stale_since FROM (
            SELECT b.agent_id, b.session_id, b.session_name, p.kind, p.object_id, b.at,
                p.stale, p.stale_since
            FROM p CROSS JOIN agent_sessions_briefingitem i CROSS JOIN agent_sessions_briefing b
            WHERE i.project_id = %s AND i.kind = p.kind AND i.object_id = p.object_id
            AND b.id = i.briefing_id AND b.agent_id = %s
            UNION ALL
            SELECT w.agent_id, nullif(w.session_id, 0), w.session_name, p.kind, p.object_id, w.at,
                p.stale, p.stale_since
            FROM p CROSS JOIN agent_sessions_writing w
            WHERE w.project_id = %s AND w.kind = p.kind AND w.object_id = p.object_id
            AND w.agent_id = %s) given
        WHERE NOT EXISTS (
            SELECT 1 FROM agent_sessions_notice n
            WHERE n.agent_id = %s AND n.kind = given.kind AND n.object_id = given.object_id
            AND n.created_at >= given.stale_since)
        GROUP BY agent_id, session_id, session_name, kind, object_id, stale, stale_since
        ORDER BY stale_since DESC, kind, object_id""",
        [project_id, STALE_READ, project_id, agent_id, project_id, agent_id, agent_id],
    )
    return [(_reader(row), count, sql.read_time(since)) for *row, count, since in found]


_GIVEN = """
    SELECT b.agent_id, b.session_id, b.session_name, i.kind, i.object_id, b.at, i.version
    FROM agent_sessions_briefing b
    JOIN agent_sessions_briefingitem i ON i.briefing_id = b.id AND i.kind = 'decision' WHERE {among}"""
_WRITTEN = """
    SELECT b.agent_id, nullif(b.session_id, 0) AS session_id, b.session_name, b.kind, b.object_id, b.at,
        b.version
    FROM agent_sessions_writing b WHERE b.kind = 'decision' AND {among}"""


def find_outdated(
    project_id: int, briefing_ids: Sequence[int], writing_ids: Sequence[int] = ()
) -> list[Outdated]:
    """The decisions of these briefings and writings that others changed before they were recorded."""
    asked = [
        (statement, sql.among("b.id", ids))
        for statement, ids in ((_GIVEN, briefing_ids), (_WRITTEN, writing_ids))
        if ids
    ]
    if not asked:
        return []
    branches = " UNION ALL ".join(statement.format(among=among) for statement, (among, _) in asked)
    found = sql.rows(
        f"""
        SELECT g.agent_id, g.session_id, g.session_name, g.kind, g.object_id, g.at,
            d.key, g.version, d.version, coalesce(r.value, d.value), d.value, d.status, d.reason, d.agent_id
        FROM ({branches}) g
        JOIN memory_decision d ON d.project_id = %s AND d.id = g.object_id
        LEFT JOIN memory_decisionrevision r ON r.decision_id = d.id AND r.version = g.version
            AND g.version <> d.version
        WHERE d.agent_id <> g.agent_id
        AND (r.value <> d.value OR r.value_type <> d.value_type OR (d.status = %s AND d.updated_at > g.at))
        ORDER BY g.at DESC""",
        [*(v for _, (_, vs) in asked for v in vs), project_id, DecisionStatus.DEPRECATED.value],
    )
    return [Outdated(_reader(row[:6]), *_changed(row[6:])) for row in found]


def _reader(row: Sequence[Any]) -> Reader:
    agent_id, session_id, session_name, kind, object_id, at = row
    return Reader(agent_id, session_id, session_name, kind, object_id, sql.read_time(at))


def _changed(row: Sequence[Any]) -> tuple[str, str, str, str, str, bool, str, int]:
    key, was, now, was_value, now_value, status, reason, changer_id = row
    return key, was, now, was_value, now_value, status == DecisionStatus.DEPRECATED, reason, changer_id


def given_since(caller: Caller, keys: Collection[ObjectKey], since: datetime) -> set[ObjectKey]:
    """Those of the objects that the caller's agent was given after a time, with a query for each kind."""
    ids: dict[str, list[int]] = {}
    for kind, object_id in keys:
        ids.setdefault(kind, []).append(object_id)
    folded = caller.agent.casefold()
    return {
        (kind, object_id)
        for kind, some in ids.items()
        for object_id in find_given(caller.project_id, folded, kind, some, since)
    }
