"""What was said before a message and after it, in its thread."""

from collections.abc import Mapping, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.search.turns import Turn, shares_of

REPLIES = 200


def read_turns(project_id: int, ids: Sequence[int]) -> Mapping[int, Mapping[int, float]]:
    """The replies to each of these messages, and its neighbours in its thread, with their shares."""
    which, values = sql.by_ids("f", project_id, ids)
    rows = sql.rows(
        f"""
        SELECT f.id, {sql.ending("f.text")},
            (SELECT n.id FROM messaging_message n
             WHERE n.thread_id = coalesce(f.thread_id, f.id) AND n.id > f.id ORDER BY n.id LIMIT 1),
            coalesce(
                (SELECT p.id FROM messaging_message p
                 WHERE p.thread_id = f.thread_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1),
                f.thread_id)
        FROM messaging_message f WHERE {which}""",  # noqa: S608
        values,
    )
    replies: dict[int, list[int]] = {}
    among, said = sql.among("reply_to_id", list(ids))
    # In the order of the ids alone SQLite walks through all messages.
    statement = f"""
        SELECT reply_to_id, id FROM messaging_message
        WHERE {among} AND project_id = %s ORDER BY id + 0 LIMIT {REPLIES}"""  # noqa: S608
    for message, reply in sql.rows(statement, [*said, project_id]):
        replies.setdefault(message, []).append(reply)
    return {
        row: shares_of(Turn(ending, [following], [before], replies.get(row, [])))
        for row, ending, following, before in rows
    }
