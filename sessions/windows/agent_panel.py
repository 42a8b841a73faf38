"""The live and the last sessions of an agent: a panel on its page."""

from typing import Any

from django.db.models.functions import Left

from ctxhub.console.row_panels import AGENT, RowPanel
from ctxhub.console.urls import list_url
from sessions.sittings.models import AgentSession
from sessions.windows.live import find_windows

SHOWN, SUMMARY_SHOWN = 5, 120


def sessions_panel(kind: str, row: Any) -> RowPanel | None:
    if kind != AGENT:
        return None
    sessions = AgentSession.objects.in_project(row.project_id).filter(agent=row.pk)
    last = sessions.defer("summary").annotate(beginning=Left("summary", SUMMARY_SHOWN))
    shown = {
        "live": find_windows(row.project_id, by=row.folded),
        "sessions": list(last.order_by("-created_at", "-pk")[:SHOWN]),
        "all_url": list_url("agent_sessions_agentsession", row.project, agent=row.name),
    }
    return RowPanel("ctxhub/agent_sessions.html", shown, place=50)
