"""The index: what is going on in the projects a person sees. Apps add what they know; core imports none."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Protocol
from urllib.parse import urlencode

from django.db.models import CharField, Count
from django.db.models.functions import Cast, Substr
from django.http import HttpRequest
from django.urls import reverse

from ctxhub.core.admin.access import Access, access_of, chosen_project, shown_project_ids
from ctxhub.core.admin.layer_chart import LayerBars, layer_chart
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
    """A figure, and the list behind it."""

    title: str
    value: int
    icon: str
    url: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows shown by a template of their own, with a link to all of them."""

    title: str
    template: str
    rows: Sequence[Any]
    url: str


@dataclass(frozen=True, slots=True)
class Day:
    """A bar of the chart: the events of a day, its height among the others, and where they are listed."""

    at: date
    events: int
    percent: int
    url: str


class Place(Protocol):
    """Makes the address of a model's list, in the project that is looked at."""

    def __call__(self, model: str, /, **filters: Any) -> str: ...


# What apps show, of the projects of these ids.
cards: list[Callable[[Sequence[int], Place], Sequence[Card]]] = []
panels: list[Callable[[Sequence[int], Place], Panel]] = []


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the index shows, in a number of queries that nothing on it changes."""
    project, project_ids = chosen_project(request), shown_project_ids(request)
    place = _places(project.slug if project else "")
    events = list(_latest_events(project_ids))
    access = access_of(request)
    return context | {
        "title": str(project) if project else "What is going on",
        "project": project,
        "projects": list(access.projects.values()),
        "may_make_tokens": access.may(ADMIN, project.pk if project else None),
        "is_new": not events,
        "has_large_search": bool(events),
        **(_what_goes_on(project_ids, place, events) if events else {}),
        "layers": _layers(project, project_ids, access) if events else [],
    }


def _what_goes_on(project_ids: Sequence[int], place: Place, events: Sequence[Event]) -> dict[str, Any]:
    days = _days(project_ids, place)
    agents = Agent.unscoped.filter(project__in=project_ids)
    active = agents.filter(last_seen_at__gte=clock.now() - ACTIVE_FOR).count()
    own = [
        Card("Agents active in the last hour", active, "smart_toy", place("core_agent")),
        Card("Events today", days[-1].events, "bolt", place("core_event")),
    ]
    return {
        "cards": [card for make in cards for card in make(project_ids, place)] + own,
        "panels": [make(project_ids, place) for make in panels],
        "events": [(event, note_of(event.data)) for event in events],
        "events_url": place("core_event"),
        "days": days,
        "agents": agents.order_by("-last_seen_at", "name").select_related("project")[:AGENTS_SHOWN],
        "agents_url": place("core_agent"),
        "active_since": clock.now() - ACTIVE_FOR,
    }


def _layers(project: Project | None, project_ids: Sequence[int], access: Access) -> list[LayerBars]:
    """Layers are a project's own: nothing is said of them where several are looked at."""
    only = access.projects[project_ids[0]] if len(project_ids) == 1 else project
    return layer_chart(only) if only else []


def _latest_events(project_ids: Sequence[int]) -> Any:
    rows = Event.unscoped.filter(project__in=project_ids)
    return rows.select_related("agent", "project").order_by("-pk")[:EVENTS_SHOWN]


def _days(project_ids: Sequence[int], place: Place) -> list[Day]:
    """The events of the last two weeks by day: on both engines a moment's text begins with UTC's day."""
    today = clock.now().date()
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS_SHOWN))]
    recent = Event.unscoped.filter(project__in=project_ids, at__gte=clock.now() - timedelta(days=DAYS_SHOWN))
    counted = recent.annotate(day=Substr(Cast("at", CharField()), 1, 10)).order_by().values_list("day")
    found = Counter(dict(counted.annotate(events=Count("pk"))))
    most = max([found[str(day)] for day in days] + [1])
    return [Day(day, found[str(day)], round(100 * found[str(day)] / most), _on(day, place)) for day in days]


def _on(day: date, place: Place) -> str:
    return place("core_event", at__year=day.year, at__month=day.month, at__day=day.day)


def _places(slug: str) -> Place:
    """Addresses of lists that stay in the chosen project."""

    def place(model: str, /, **filters: Any) -> str:
        query = urlencode({**({"project": slug} if slug else {}), **filters})
        return f"{reverse(f'admin:{model}_changelist')}{'?' if query else ''}{query}"

    return place
