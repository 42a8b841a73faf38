"""Panels: what an agent was given last, and who was given an object."""

from typing import Any

from django.db.models import Count
from django.urls import reverse

from ctxhub.console.row_panels import AGENT, RowPanel
from ctxhub.console.urls import list_url
from ctxhub.core.kit.frozen import frozen
from sessions.given.models import Briefing, BriefingItem

BRIEFINGS_SHOWN = 5


def given_panel(kind: str, row: Any) -> RowPanel | None:
    if kind != AGENT:
        return None
    newest = list(
        Briefing.objects.in_project(row.project_id)
        .filter(agent=row.pk)
        .order_by("-at", "-pk")[:BRIEFINGS_SHOWN]
    )
    items = BriefingItem.objects.in_project(row.project_id).filter(briefing__in=newest).order_by()
    counts = dict(items.values_list("briefing").annotate(Count("pk")))
    shown = {
        "briefings": [(briefing, counts.get(briefing.pk, 0)) for briefing in newest],
        "all_url": list_url("agent_sessions_briefing", row.project, agent=row.name),
    }
    return RowPanel("ctxhub/agent_given.html", shown, place=60)


READ, READERS_SHOWN = 200, 10


@frozen
class Reader:
    """An agent, and the last time it was given the object. `is_older`: in another version than it has now."""

    agent: str
    briefing: Briefing
    version: str
    is_older: bool

    @property
    def url(self) -> str:
        return reverse("admin:agent_sessions_briefing_change", args=[self.briefing.pk])


def readers_panel(kind: str, row: Any) -> RowPanel | None:
    """The agents that were given it, the last one first; None for nobody."""
    if kind == AGENT:
        return None
    items = BriefingItem.objects.in_project(row.project_id).filter(kind=kind, object_id=row.pk)
    newest = items.select_related("briefing__agent").order_by("-briefing_id")[:READ]
    version = str(getattr(row, "version", getattr(row, "revision", "")))
    readers: dict[int, Reader] = {}
    for item in newest:
        briefing = item.briefing
        is_older = bool(item.version and version and item.version != version)
        reader = Reader(briefing.agent.name, briefing, item.version, is_older)
        readers.setdefault(briefing.agent_id, reader)
    if not readers:
        return None
    found = list(readers.values())
    shown = {
        "readers": found[:READERS_SHOWN],
        "more": len(found) - READERS_SHOWN,
        "all_url": list_url("agent_sessions_briefing", row.project, q=row.ref),
    }
    return RowPanel("ctxhub/readers.html", shown)
