"""Admin page that shows an agent's inbox as the agent sees it, without marking anything as read."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse

from ctxhub.core.admin.base import ProjectAdmin
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import make_cursor, read_cursor
from ctxhub.core.models import Agent
from messaging.admin.colours import COLOURS
from messaging.selectors.inbox import find_inbox

SHOWN = 50


def inbox_page(model_admin: ProjectAdmin, request: HttpRequest, agent: Agent) -> HttpResponse:
    shows_all = request.GET.get("show") == "all"
    now, after = clock.now(), _position(request.GET.get("cursor", ""))
    found = find_inbox(
        agent.project_id, agent.folded, now, unread=not shows_all, limit=SHOWN + 1, after=after
    )
    rows = found[:SHOWN]
    last = rows[-1][0] if len(found) > SHOWN else None
    return model_admin.page(
        request,
        "ctxhub/inbox.html",
        f"Inbox of {agent}",
        agent=agent,
        project=agent.project,
        rows=[(message, to_ack, message.state_label(now)) for message, to_ack in rows],
        is_whole=shows_all,
        next=make_cursor(last.priority, last.created_at, last.id) if last else None,
        **COLOURS,
    )


def _position(cursor: str) -> tuple[int, datetime, int] | None:
    """Decode a cursor to (priority, time, id); None, the first page, for an invalid cursor."""
    try:
        priority, at, row_id = read_cursor(cursor, int, datetime, int)
    except InvalidInput:
        return None
    return priority, at, row_id
