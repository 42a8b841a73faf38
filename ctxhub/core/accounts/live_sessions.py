"""The sessions of agents that were heard of within an hour, and under which name a window goes on."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ctxhub.core.accounts.speakers import LIVE_FOR, named_by
from ctxhub.core.call_sessions import name_of_session
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen

# A window that goes on under another name is counted once.
LIVE = "h.project_id = %s AND h.heard_at > %s AND h.now_called = ''"
MOST_LISTED = 1_000


@frozen
class LiveSession:
    """A session heard of lately. `folded`: the case-folded name of its agent."""

    name: str
    agent: str
    folded: str
    heard_at: datetime


def live_sessions(project_id: int, *, by: str = "") -> list[LiveSession]:
    """Up to 1,000 live sessions, heard of last first. `by`: only of this agent, by its case-folded name."""
    condition, values = (" AND h.folded = %s", [by]) if by else ("", [])
    found = sql.rows(
        f"""
        SELECT h.name, a.name, h.folded, h.heard_at FROM core_heardsession h
        JOIN core_agent a ON a.project_id = h.project_id AND a.folded = h.folded
        WHERE {LIVE}{condition} ORDER BY h.heard_at DESC, h.id DESC LIMIT %s""",
        [*_lately(project_id), *values, MOST_LISTED],
    )
    return [LiveSession(name, agent, folded, sql.read_time(at)) for name, agent, folded, at in found]


def count_live_sessions(project_id: int, folded: Sequence[str]) -> Mapping[str, int]:
    among, values = sql.among("h.folded", folded)
    statement = (
        f"SELECT h.folded, count(*) FROM core_heardsession h WHERE {LIVE} AND {among} GROUP BY h.folded"
    )
    return dict(sql.rows(statement, [*_lately(project_id), *values]))


def _lately(project_id: int) -> tuple[int, object]:
    return project_id, sql.stored_time(clock.now() - LIVE_FOR)


KEPT = timedelta(days=7)
REMOVED_AT_ONCE = 500


def note_session(caller: Caller, at: datetime) -> None:
    """Note that the session of a call was heard of; nothing for a call without one. Inside a transaction."""
    if not named_by(caller):
        return
    try:
        name = name_of_session(caller) if caller.session else named_by(caller)
    except CtxhubError:  # The call did not need the session that it names.
        return
    made_up = not caller.session and caller.window is not None and caller.window.made_up
    sql.insert(
        "core_heardsession",
        ("project_id", "folded", "name", "made_up", "now_called", "heard_at"),
        [(caller.project_id, caller.agent.casefold(), name, made_up, "", sql.stored_time(at))],
        "ON CONFLICT (project_id, folded, name) DO UPDATE SET heard_at = excluded.heard_at",
    )


def go_on(caller: Caller, name: str, old: str, at: datetime) -> None:
    """Let a session have its own name, and an old one mean it; "": no other. Inside a transaction."""
    folded = caller.agent.casefold()
    sql.execute(
        "UPDATE core_heardsession SET now_called = '' WHERE project_id = %s AND folded = %s AND name = %s",
        [caller.project_id, folded, name],
    )
    if old:
        sql.insert(
            "core_heardsession",
            ("project_id", "folded", "name", "made_up", "now_called", "heard_at"),
            [(caller.project_id, folded, old, False, name, sql.stored_time(at))],
            "ON CONFLICT (project_id, folded, name) DO UPDATE SET now_called = excluded.now_called",
        )


def forget_sessions(project_id: int, now: datetime) -> None:
    """Remove up to 500 sessions that were not heard of for a week."""
    found = sql.rows(
        "SELECT id FROM core_heardsession WHERE project_id = %s AND heard_at < %s ORDER BY heard_at LIMIT %s",
        [project_id, sql.stored_time(now - KEPT), REMOVED_AT_ONCE],
    )
    if found:
        among, values = sql.among("id", [row_id for (row_id,) in found])
        sql.execute(f"DELETE FROM core_heardsession WHERE {among}", values)
