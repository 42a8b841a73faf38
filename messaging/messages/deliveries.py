"""Writes deliveries and receipts, and the results of requests."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.accounts.people import who_asked_for_broadcasts
from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition
from ctxhub.core.models import Agent
from messaging.messages.models import Delivery
from messaging.messages.rows import MessageRow

_COLUMNS = ("project_id", "message_id", "name", "folded", "type", "state", "priority", "at", "owed")
_NAMED = (*_COLUMNS, "to_people")

OWED_BY_SEEN_WITHIN_DAYS = 7

_TO_EVERYONE = f"""
    INSERT INTO messaging_delivery ({", ".join(_COLUMNS)})
    SELECT m.project_id, m.id, a.name, a.folded, m.type, m.state, m.priority, m.created_at, {{owed}}
    FROM messaging_message m JOIN core_agent a ON a.project_id = m.project_id AND a.id <> m.sender_id
    WHERE m.to_everyone AND {{condition}} ORDER BY m.id, a.id ON CONFLICT (message_id, folded) DO NOTHING"""


def deliver(project_id: int, messages: Sequence[MessageRow]) -> None:
    """Deliver new messages to their recipients, or to everyone."""
    everyone = [each.id for each in messages if each.to_everyone]
    asked = who_asked_for_broadcasts(project_id) if everyone else []
    named = [
        (
            *(project_id, each.id, name, name.casefold(), each.type, each.state, each.priority),
            *(sql.stored_time(each.created_at), True, to_people),
        )
        for each in messages
        for names, to_people in (
            (each.to or (), False),
            (each.people, True),
            (_but_sender(asked, each) if each.to_everyone else (), False),
        )
        for name in names
    ]
    if named:
        sql.insert("messaging_delivery", _NAMED, named)
    if everyone:
        deliver_to_everyone(everyone)


def _but_sender(names: Sequence[str], message: MessageRow) -> list[str]:
    return [name for name in names if name.casefold() != message.sender.casefold()]


def decline_broadcasts(name: str) -> None:
    """A person owes no broadcast any more, in any project."""
    owed = Delivery.unscoped.filter(folded=name.casefold(), owed=True, message__to_everyone=True)
    owed.update(owed=False)


def deliver_to_everyone(message_ids: Sequence[int]) -> None:
    """Deliver to every registered agent except the sender; owed by those seen in the 7 days before.

    People owe none but those who asked for it, to whom `deliver` has delivered it by name.
    """
    among, values = sql.among("m.id", message_ids)
    since = sql.days_before("m.created_at", OWED_BY_SEEN_WITHIN_DAYS)
    # The agent's first time counts, too: importers and the ORM deliver messages that are older than it.
    was_here = f"a.created_at <= m.created_at AND a.last_seen_at IS NOT NULL AND a.last_seen_at >= {since}"
    owed = f"a.kind = {Agent.Kind.AGENT.value} AND {was_here}"
    sql.execute(_TO_EVERYONE.format(condition=among, owed=owed), values)


def copy_to_deliveries(message_id: int) -> None:
    """Copy the message's current type, state, priority and time to its deliveries."""
    sql.execute(
        """UPDATE messaging_delivery SET (type, state, priority, at) = (
            SELECT m.type, m.state, m.priority, m.created_at FROM messaging_message m WHERE m.id = %s)
        WHERE message_id = %s""",
        [message_id, message_id],
    )


def deliver_standing(project_id: int, agent_id: int) -> None:
    """Deliver all messages to everyone to an agent that has just registered: it owes nothing."""
    statement = _TO_EVERYONE.format(condition="m.project_id = %s AND a.id = %s", owed="false")
    sql.execute(statement, [project_id, agent_id])


def known_agents(project_id: int, names: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Id and stored spelling of the agents of these names that were ever seen, by case-folded name."""
    if not names:
        return {}
    among, values = sql.among("folded", list({name.casefold() for name in names}))
    statement = (
        "SELECT folded, id, name FROM core_agent"
        f" WHERE project_id = %s AND {among} AND last_seen_at IS NOT NULL"
    )
    found = sql.rows(statement, [project_id, *values])
    return {folded: (agent_id, name) for folded, agent_id, name in found}


def rename_recipient(project_id: int, was: str, name: str) -> list[int]:
    """Deliver to `name` what `was` got, and return its messages. What both got stays as it is."""
    statement = """
        UPDATE messaging_delivery SET name = %s, folded = %s
        WHERE project_id = %s AND folded = %s AND message_id NOT IN (
            SELECT message_id FROM messaging_delivery WHERE project_id = %s AND folded = %s)
        RETURNING message_id"""
    new, old = name.casefold(), was.casefold()
    return [row_id for (row_id,) in sql.rows(statement, [name, new, project_id, old, project_id, new])]


def mark_read(project_id: int, folded: str, message_ids: Sequence[int], at: datetime) -> int:
    """Mark these messages as read by the agent. Returns how many were unread."""
    among, values = sql.among("message_id", message_ids)
    statement = f"""
        UPDATE messaging_delivery SET read_at = %s
        WHERE project_id = %s AND folded = %s AND read_at IS NULL AND {among} RETURNING id"""
    return len(sql.rows(statement, [sql.stored_time(at), project_id, folded, *values]))


def mark_some_read(project_id: int, folded: str, at: datetime, at_most: int) -> int:
    """Mark up to `at_most` unread messages as read. Returns how many.

    Matches by id alone: with more conditions PostgreSQL picks a nested loop where it expects few rows.
    """
    is_unread = sql.among_found("id", "SELECT id FROM unread")
    statement = f"""
        WITH unread AS MATERIALIZED (
            SELECT id FROM messaging_delivery WHERE project_id = %s AND folded = %s AND read_at IS NULL
            ORDER BY type, state LIMIT %s)
        UPDATE messaging_delivery SET read_at = %s WHERE {is_unread} RETURNING id"""
    return len(sql.rows(statement, [project_id, folded, at_most, sql.stored_time(at)]))


def mark_acked(project_id: int, folded: str, message_ids: Sequence[int], at: datetime) -> list[int]:
    """Mark messages as acknowledged and read. Returns the ids that were not acknowledged before."""
    among, values = sql.among("message_id", message_ids)
    moment = sql.stored_time(at)
    statement = f"""
        UPDATE messaging_delivery SET acked_at = %s, read_at = coalesce(read_at, %s)
        WHERE project_id = %s AND folded = %s AND acked_at IS NULL AND {among} RETURNING message_id"""
    found = sql.rows(statement, [moment, moment, project_id, folded, *values])
    return sorted(message_id for (message_id,) in found)


def take_for_people(project_id: int, message_id: int, folded: str) -> None:
    """One of the people has answered: the others owe nothing any more."""
    sql.execute(
        """UPDATE messaging_delivery SET owed = %s
        WHERE project_id = %s AND message_id = %s AND to_people AND folded <> %s""",
        [False, project_id, message_id, folded],
    )


def addressed_to(project_id: int, folded: str, message_ids: Sequence[int]) -> set[int]:
    """Which of these messages are addressed to the agent."""
    among, values = sql.among("message_id", message_ids)
    statement = f"SELECT message_id FROM messaging_delivery WHERE project_id = %s AND folded = %s AND {among}"
    return {message_id for (message_id,) in sql.rows(statement, [project_id, folded, *values])}


AT_ONCE = 2_000


def digest_of_ref(ref: str) -> int:
    """A number of 64 bits. Stored ones were made by this: a change needs a migration."""
    return int.from_bytes(hashlib.blake2b(ref.encode(), digest_size=8).digest(), "big", signed=True)


def insert_results(project_id: int, refs: Mapping[int, Iterable[Any]]) -> None:
    """Store the results of messages, by message id; none of them has some yet. Skips what is no text."""
    records = [
        (project_id, message_id, digest)
        for message_id, some in refs.items()
        for digest in sorted({digest_of_ref(ref) for ref in some if isinstance(ref, str)})
    ]
    for some in sql.chunks(records, AT_ONCE):
        sql.insert("messaging_result", ("project_id", "message_id", "digest"), some)


def replace_results(project_id: int, message_id: int, refs: Iterable[Any]) -> None:
    sql.execute(
        "DELETE FROM messaging_result WHERE project_id = %s AND message_id = %s", [project_id, message_id]
    )
    insert_results(project_id, {message_id: refs})


def with_results(column: str, project_id: int, refs: Sequence[str]) -> Condition:
    """The condition that `column` is the id of a message that has one of the refs as a result.

    Another ref may have the same digest: compare the refs, too.
    """
    among, values = sql.among("digest", [digest_of_ref(ref) for ref in refs])
    found = f"SELECT message_id FROM messaging_result WHERE project_id = %s AND {among}"
    return sql.among_found(column, found), [project_id, *values]
