"""What an agent was given last: a panel on its page."""

from typing import Any

from django.db.models import Count

from ctxhub.core.admin.row_panels import AGENT, RowPanel, row_panels
from ctxhub.core.admin.urls import list_url
from sessions.briefings.models.briefing import Briefing, BriefingItem

SHOWN = 5


def given_panel(kind: str, row: Any) -> RowPanel | None:
    if kind != AGENT:
        return None
    newest = list(
        Briefing.objects.in_project(row.project_id).filter(agent=row.pk).order_by("-at", "-pk")[:SHOWN]
    )
    items = BriefingItem.objects.in_project(row.project_id).filter(briefing__in=newest).order_by()
    counts = dict(items.values_list("briefing").annotate(Count("pk")))
    shown = {
        "briefings": [(briefing, counts.get(briefing.pk, 0)) for briefing in newest],
        "all_url": list_url("agent_sessions_briefing", row.project, agent=row.name),
    }
    return RowPanel("ctxhub/agent_given.html", shown, place=60)


row_panels.append(given_panel)
