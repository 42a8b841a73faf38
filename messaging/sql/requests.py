"""Finds the next request for an agent."""

from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.holder import is_part
from ctxhub.core.kit.priority import Priority
from messaging.models import MessageType, RequestState


def next_request(project_id: int, folded: str, now: datetime) -> int | None:
    """The oldest of the most urgent open requests to the agent; an expired claim counts as open.

    One index scan for each priority: the index has the newest first, and the oldest is wanted.
    """
    branches, values = [], []
    for priority in Priority:
        for state, condition, extra_values in (
            (RequestState.OPEN, "", []),
            (RequestState.CLAIMED, _EXPIRED, [sql.stored_time(now)]),
        ):
            branches.append(_BRANCH.format(condition))
            values += [
                project_id,
                folded,
                MessageType.REQUEST.value,
                state.value,
                priority.value,
                *extra_values,
            ]
    statement = f"{' UNION ALL '.join(branches)} ORDER BY priority DESC, at, message_id LIMIT 1"
    found: list[Any] = sql.rows(statement, values)
    return found[0][0] if found else None


def hand_over_claims(project_id: int, agent_id: int, old: str, new: str, now: datetime) -> int:
    """Let what a session of the agent and its parts have claimed be held by another one; returns how many."""
    found = sql.rows(
        "SELECT id, claimed_session FROM messaging_message WHERE project_id = %s AND state = %s"
        " AND claimed_by_id = %s AND claimed_until > %s AND claimed_session <> '' AND claimed_made_up = %s",
        [project_id, RequestState.CLAIMED.value, agent_id, sql.stored_time(now), False],
    )
    passed = [(row_id, session) for row_id, session in found if is_part(session, old)]
    for row_id, session in passed:
        sql.execute(
            "UPDATE messaging_message SET claimed_session = %s WHERE id = %s",
            [new + session.removeprefix(old), row_id],
        )
    return len(passed)


# A value, not EXISTS: PostgreSQL would join that, and read the claims of everybody.
_EXPIRED = "AND (SELECT m.claimed_until FROM messaging_message m WHERE m.id = d.message_id) <= %s"
_BRANCH = """
    SELECT * FROM (SELECT d.message_id, d.priority, d.at FROM messaging_delivery d
    WHERE d.project_id = %s AND d.folded = %s AND d.type = %s AND d.state = %s AND d.priority = %s {}
    ORDER BY d.at, d.message_id LIMIT 1) arm"""
