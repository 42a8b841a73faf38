"""Named views of decisions and constraints, which agents request by name."""

from ctxhub.core.hub.named_views import register_view
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.listing import Listing, preview
from memory.constraints.queries import list_constraints
from memory.decisions.queries import find_decisions, list_decisions
from memory.decisions.rows import LISTED

TAGGED = ("key", "value", "status", "layer", "tags", "scopes", "version", "agent", "updated")
RECENT = "1h"


@register_view("tagged_decisions", "Every decision with its tags, whatever its status; the newest first.")
def tagged_decisions(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    page = find_decisions(project_id, status="any", limit=limit, cursor=cursor, fields=LISTED)
    rows = [
        [
            *(row.key, preview(row.typed_value), row.status_label, row.layer, list(row.tags)),
            *(list(row.scopes), row.version, row.agent, format_time(row.updated_at)),
        ]
        for row in page.rows
    ]
    return Listing(TAGGED, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


@register_view("active_context", "The active decisions of the last hour.")
def active_context(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    return list_decisions(project_id, since=RECENT, limit=limit, cursor=cursor)


@register_view("tagged_constraints", "The constraints in force with their tags; the most urgent first.")
def tagged_constraints(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    return list_constraints(project_id, limit=limit, cursor=cursor)
