"""Reads the neighbours of messages in their threads."""

from collections.abc import Mapping, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.search.neighbours import Turn, shares_of

REPLIES = 200


def read_turns(project_id: int, ids: Sequence[int]) -> Mapping[int, Mapping[int, float]]:
    """Replies and thread neighbours of each message, as ids with their shares."""
    condition, values = sql.by_ids("f", project_id, ids)
    rows = sql.rows(
        f"""
        SELECT f.id, {sql.ending("f.text")},
            (SELECT n.id FROM messaging_message n
             WHERE n.thread_id = coalesce(f.thread_id, f.id) AND n.id > f.id ORDER BY n.id LIMIT 1),
            coalesce(
                (SELECT p.id FROM messaging_message p
                 WHERE p.thread_id = f.thread_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1),
                f.thread_id)
        FROM messaging_message f WHERE {condition}""",
        values,
    )
    replies: dict[int, list[int]] = {}
    by_reply_to, reply_values = sql.among("reply_to_id", list(ids))
    # `id + 0`: ordering by the plain id would make SQLite scan all messages.
    statement = f"""
        SELECT reply_to_id, id FROM messaging_message
        WHERE {by_reply_to} AND project_id = %s ORDER BY id + 0 LIMIT {REPLIES}"""
    for message, reply in sql.rows(statement, [*reply_values, project_id]):
        replies.setdefault(message, []).append(reply)
    return {
        row: shares_of(Turn(ending, [following], [before], replies.get(row, [])))
        for row, ending, following, before in rows
    }
