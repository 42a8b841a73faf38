"""The named view of unread messages by priority."""

from ctxhub.core.hub.named_views import register_view
from ctxhub.core.kit import sql
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, make_cursor, read_cursor
from ctxhub.core.kit.priority import Priority

_COUNTED = """
    SELECT min(d.name), d.folded, d.priority, count(*) FROM messaging_delivery d
    JOIN messaging_message m ON m.id = d.message_id
    WHERE d.project_id = %s AND d.read_at IS NULL AND NOT m.to_everyone AND d.folded >= %s
    GROUP BY d.folded, d.priority HAVING d.folded > %s OR d.priority < %s
    ORDER BY d.folded, d.priority DESC LIMIT %s"""


@register_view(
    "unread_messages_by_priority",
    "What each agent has not read of what was addressed to it.",
    has_authors=False,
)
def unread_messages_by_priority(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """Rows agent, priority, count; by agent, urgent first. Messages to everyone are not counted."""
    limit = clean_limit(limit)
    agent, priority = read_cursor(cursor, str, int) if cursor else ("", max(Priority) + 1)
    found = sql.rows(_COUNTED, [project_id, agent, agent, priority, limit + 1])
    return Listing(
        columns=("agent", "priority", "count"),
        rows=[[name, str(Priority(urgency).label), int(count)] for name, _, urgency, count in found[:limit]],
        next=make_cursor(*found[limit - 1][1:3]) if len(found) > limit else None,
        cursor_after=lambda count: make_cursor(*found[count - 1][1:3]),
    )
