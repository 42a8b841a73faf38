"""SQL of what others changed after an event."""

from collections.abc import Sequence

from ctxhub.core.kit import sql

EVENTS_READ = 10_000
OBJECTS_READ = 500


def changed_refs(project_id: int, after: int, folded: str, nouns: Sequence[str]) -> list[tuple[str, str]]:
    """Noun and ref of the objects with an event after this id that is not of this agent, newest first.

    What was only confirmed is left out: its text is the same. Reads the newest 10,000 events, and names 500
    objects at most.
    """
    among, values = sql.among("noun", nouns)
    return sql.rows(
        f"""
        SELECT noun, ref FROM (
            SELECT id, noun, ref FROM core_event
            WHERE project_id = %s AND id > %s AND {among} AND verb <> 'confirmed'
                AND (agent_id IS NULL OR agent_id NOT IN
                    (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s))
            ORDER BY id DESC LIMIT %s) new
        GROUP BY noun, ref ORDER BY max(id) DESC LIMIT %s""",
        [project_id, after, *values, project_id, folded, EVENTS_READ, OBJECTS_READ],
    )
