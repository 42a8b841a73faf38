"""The sessions of agents that are live: heard of within an hour."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from ctxhub.core.accounts.selectors.speakers import LIVE_FOR
from ctxhub.core.hub.selectors import hub
from ctxhub.core.kit import clock, sql
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


hub.register_agent_facts(count_live_sessions, "sessions")


def _lately(project_id: int) -> tuple[int, object]:
    return project_id, sql.stored_time(clock.now() - LIVE_FOR)
