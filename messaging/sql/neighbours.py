"""Selects the neighbours of messages in their threads."""

from collections.abc import Sequence

from ctxhub.core.kit import sql
from ctxhub.core.kit.sql import Selected

REPLIES = 200


def turns_of(project_id: int, ids: Sequence[int]) -> Selected:
    """Replies and thread neighbours of each message, as `Noun.turns`."""
    which, values = sql.by_ids("f", project_id, ids)
    by_reply_to, reply_values = sql.among("reply_to_id", list(ids))
    ending = f"{sql.ending('f.text')} AS ending"
    # `id + 0`: ordering by the plain id would make SQLite scan all messages.
    statement = f"""
        SELECT f.id, {ending}, 1 AS place, (
            SELECT n.id FROM messaging_message n
            WHERE n.thread_id = coalesce(f.thread_id, f.id) AND n.id > f.id ORDER BY n.id LIMIT 1) AS other
        FROM messaging_message f WHERE {which}
        UNION ALL SELECT f.id, {ending}, -1 AS place, coalesce((
                SELECT p.id FROM messaging_message p
                WHERE p.thread_id = f.thread_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1),
            f.thread_id) AS other
        FROM messaging_message f WHERE {which}
        UNION ALL SELECT * FROM (
            SELECT reply_to_id, '', 0, id FROM messaging_message
            WHERE {by_reply_to} AND project_id = %s ORDER BY id + 0 LIMIT {REPLIES}) r"""
    return statement, [*values, *values, *reply_values, project_id]
