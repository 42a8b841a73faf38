"""The dashboard of the admin. Apps register cards and panels here; core imports no app."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Protocol

from django.http import HttpRequest
from django.utils import timezone

from ctxhub.core.admin import urls
from ctxhub.core.admin.access import Access, access_of, chosen_project, shown_project_ids
from ctxhub.core.admin.graphs.layer_chart import LayerBars, layer_chart
from ctxhub.core.admin.time_slots import count_by_day
from ctxhub.core.events.selectors.events import note_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.models import Agent, Event, Project

EVENTS_SHOWN = 12
AGENTS_SHOWN = 6
DAYS_SHOWN = 14
ACTIVE_FOR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Card:
    """A count, linked to the list of what it counts."""

    title: str
    value: int
    icon: str
    url: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows rendered by `template`, with a link to the full list."""

    title: str
    template: str
    rows: Sequence[Any]
    url: str


@dataclass(frozen=True, slots=True)
class Day:
    """A bar of the chart: a day's event count, its height in percent of the highest, the URL of the list."""

    at: date
    events: int
    percent: int
    url: str


class ListUrl(Protocol):
    """Returns the URL of a model's list, filtered by the chosen project."""

    def __call__(self, model: str, /, **filters: Any) -> str: ...


# Registered by apps. Each function gets the ids of the shown projects.
cards: list[Callable[[Sequence[int], ListUrl], Sequence[Card]]] = []
panels: list[Callable[[Sequence[int], ListUrl], Panel]] = []


def add_context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The dashboard's context. The number of queries does not grow with the data."""
    project, project_ids = chosen_project(request), shown_project_ids(request)

    def list_url(model: str, /, **filters: Any) -> str:
        return urls.list_url(model, project, **filters)

    events = list(_latest_events(project_ids))
    access = access_of(request)
    return context | {
        "title": str(project) if project else "Overview",
        "project": project,
        "projects": list(access.projects.values()),
        "may_make_tokens": access.may(ADMIN, project.pk if project else None),
        "is_new": not events,
        "has_large_search": bool(events),
        **(_activity(project_ids, list_url, events) if events else {}),
        "layers": _layers(project, project_ids, access) if events else [],
    }


def _activity(project_ids: Sequence[int], list_url: ListUrl, events: Sequence[Event]) -> dict[str, Any]:
    days = _days(project_ids, list_url)
    agents = Agent.unscoped.filter(project__in=project_ids)
    active = agents.filter(last_seen_at__gte=clock.now() - ACTIVE_FOR).count()
    own_cards = [
        Card("Agents active in the last hour", active, "smart_toy", list_url("core_agent")),
        Card("Events today", days[-1].events, "bolt", list_url("core_event")),
    ]
    return {
        "cards": [card for make in cards for card in make(project_ids, list_url)] + own_cards,
        "panels": [make(project_ids, list_url) for make in panels],
        "events": [(event, note_of(event.data)) for event in events],
        "events_url": list_url("core_event"),
        "days": days,
        "agents": agents.order_by("-last_seen_at", "name").select_related("project")[:AGENTS_SHOWN],
        "agents_url": list_url("core_agent"),
        "active_since": clock.now() - ACTIVE_FOR,
    }


def _layers(project: Project | None, project_ids: Sequence[int], access: Access) -> list[LayerBars]:
    """The layer chart of the only shown project; [] for several, since each project has its own layers."""
    shown = access.projects[project_ids[0]] if len(project_ids) == 1 else project
    return layer_chart(shown) if shown else []


def _latest_events(project_ids: Sequence[int]) -> Any:
    rows = Event.unscoped.filter(project__in=project_ids)
    return rows.select_related("agent", "project").order_by("-pk")[:EVENTS_SHOWN]


def _days(project_ids: Sequence[int], list_url: ListUrl) -> list[Day]:
    """Event counts by day for two weeks."""
    today = timezone.localdate()
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS_SHOWN))]
    counts = count_by_day(
        Event.unscoped.filter(project__in=project_ids, at__gte=clock.now() - timedelta(days=DAYS_SHOWN)), "at"
    )
    most = max([counts[day] for day in days] + [1])
    return [
        Day(day, counts[day], round(100 * counts[day] / most), _url_of_day(day, list_url)) for day in days
    ]


def _url_of_day(day: date, list_url: ListUrl) -> str:
    return list_url("core_event", at__year=day.year, at__month=day.month, at__day=day.day)
