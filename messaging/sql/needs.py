"""Reads overdue acknowledgements and requests that nobody claims, in all of some projects."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from messaging.models import RequestState

TEXT_SHOWN = 200


@frozen
class Owing:
    """An agent that owes overdue acknowledgements: `owed` in all, `alike` of the highest priority.

    `message_id`, `priority` and `due_at` are of the most urgent one, the first that was due. `agents`: how
    many agents owe some.
    """

    project_id: int
    name: str
    folded: str
    message_id: int
    priority: int
    due_at: datetime
    owed: int
    alike: int
    agents: int
    agent_id: int | None


@frozen
class Unclaimed:
    """The most urgent request of a project that nobody claims, and how many there are.

    `to`: the first of its recipients, `to_id` if it is registered, and how many it has. `projects`: how many
    have such requests.
    """

    project_id: int
    message_id: int
    sender: str
    text: str
    priority: int
    sent_at: datetime
    to: str | None
    recipients: int
    requests: int
    projects: int
    sender_id: int
    to_id: int | None


def read_owing(project_ids: Sequence[int], limit: int) -> list[Owing]:
    """The agents that owe overdue acknowledgements, the most urgent first."""
    among, values = sql.among("m.project_id", project_ids)
    # m.ack is said as in the condition of the index messaging_with_ack.
    found = sql.rows(
        f"""
        WITH owed AS (
            SELECT d.project_id, d.name, d.folded, m.id, m.priority,
                coalesce(m.ack_due_at, m.created_at) AS due_at,
                count(*) OVER (PARTITION BY d.project_id, d.folded) AS owed,
                count(*) OVER (PARTITION BY d.project_id, d.folded, m.priority) AS alike,
                row_number() OVER (PARTITION BY d.project_id, d.folded
                    ORDER BY m.priority DESC, coalesce(m.ack_due_at, m.created_at), m.id) AS place
            FROM messaging_message m JOIN messaging_delivery d ON d.message_id = m.id
            WHERE {among} AND m.ack AND m.ack_overdue AND d.owed AND d.acked_at IS NULL)
        SELECT project_id, name, folded, id, priority, due_at, owed, alike, count(*) OVER (),
            (SELECT a.id FROM core_agent a
                WHERE a.project_id = owed.project_id AND a.folded = owed.folded) AS agent_id
        FROM owed WHERE place = 1 ORDER BY priority DESC, due_at, id, folded LIMIT %s""",
        [*values, limit],
    )
    return [
        Owing(project_id, name, folded, message_id, priority, sql.read_time(due_at), *counts)
        for project_id, name, folded, message_id, priority, due_at, *counts in found
    ]


def overdue_of(project_id: int, folded: str, limit: int) -> list[tuple[int, int]]:
    """The overdue messages that an agent has not acknowledged, as (id, priority), the most urgent first."""
    return [
        (message_id, priority)
        for message_id, priority in sql.rows(
            """SELECT m.id, m.priority FROM messaging_message m
            JOIN messaging_delivery d ON d.message_id = m.id AND d.folded = %s
            WHERE m.project_id = %s AND m.ack AND m.ack_overdue AND d.owed AND d.acked_at IS NULL
            ORDER BY m.priority DESC, coalesce(m.ack_due_at, m.created_at), m.id LIMIT %s""",
            [folded, project_id, limit],
        )
    ]


def replies_with_payload(
    project_ids: Sequence[int], message_ids: Sequence[int], since: datetime, limit: int
) -> list[tuple[int, str, datetime, object]]:
    """Replies: the message answered, the recipient's case-folded name, time and payload; newest first."""
    among, values = sql.among("m.project_id", project_ids)
    replied, ids = sql.among("m.reply_to_id", message_ids)
    found = sql.rows(
        f"""SELECT m.reply_to_id, d.folded, m.created_at, m.payload FROM messaging_message m
        JOIN messaging_delivery d ON d.message_id = m.id
        WHERE {among} AND m.reply_to_id IS NOT NULL AND {replied}
            AND m.created_at > %s AND NOT m.to_everyone AND m.payload IS NOT NULL
        ORDER BY m.id DESC LIMIT %s""",
        [*values, *ids, sql.stored_time(since), limit],
    )
    return [
        (message_id, folded, sql.read_time(at), sql.read_json(payload))
        for message_id, folded, at, payload in found
    ]


def read_unclaimed(
    project_ids: Sequence[int], sent_before: datetime, now: datetime, limit: int
) -> list[Unclaimed]:
    """The most urgent request of each project that nobody claims; an expired claim counts for nothing."""
    among, values = sql.among("m.project_id", project_ids)
    found = sql.rows(
        f"""
        WITH waiting AS (
            SELECT m.project_id, m.id, m.sender_id, m.priority, m.created_at, m.to_everyone,
                count(*) OVER (PARTITION BY m.project_id) AS requests,
                row_number() OVER (PARTITION BY m.project_id ORDER BY m.priority DESC, m.id) AS place
            FROM messaging_message m
            WHERE {among} AND m.state > 0 AND m.created_at <= %s AND (m.state = {RequestState.OPEN.value}
                OR m.state = {RequestState.CLAIMED.value} AND m.claimed_until <= %s)),
        first AS (
            SELECT waiting.*, count(*) OVER () AS projects FROM waiting WHERE place = 1
            ORDER BY priority DESC, id LIMIT %s)
        SELECT f.project_id, f.id, a.name, substr(m.text, 1, {TEXT_SHOWN}), f.priority, f.created_at,
            CASE WHEN f.to_everyone THEN NULL ELSE
                (SELECT min(d.name) FROM messaging_delivery d WHERE d.message_id = f.id) END,
            (SELECT count(*) FROM messaging_delivery d WHERE d.message_id = f.id), f.requests, f.projects,
            f.sender_id,
            (SELECT r.id FROM messaging_delivery d
                LEFT JOIN core_agent r ON r.project_id = f.project_id AND r.folded = d.folded
                WHERE d.message_id = f.id ORDER BY d.name LIMIT 1)
        FROM first f JOIN messaging_message m ON m.id = f.id JOIN core_agent a ON a.id = f.sender_id
        ORDER BY f.priority DESC, f.id""",
        [*values, sql.stored_time(sent_before), sql.stored_time(now), limit],
    )
    return [
        Unclaimed(project_id, message_id, sender, text, priority, sql.read_time(sent_at), *others)
        for project_id, message_id, sender, text, priority, sent_at, *others in found
    ]
