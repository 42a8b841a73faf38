"""The first page of the admin. Apps register what it counts and lists; core imports no app."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Protocol

from django.db.models import BigIntegerField, F, Func, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from ctxhub.console import urls
from ctxhub.console.access import Access, access_of, chosen_project, shown_project_ids
from ctxhub.console.away.page import away_of, renewed_by
from ctxhub.console.connecting import connect_context
from ctxhub.console.graphs.layer_chart import LayerBars, layer_chart
from ctxhub.console.needs.drawing import needs_of
from ctxhub.console.needs.sources import Reader
from ctxhub.console.silence import IN_WORDS, heard
from ctxhub.console.urls import in_project
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Agent, Event, Project, Tally
from ctxhub.core.text.plurals import counted

DAYS_SHOWN = 14


@frozen
class Amount:
    """How many rows there are, linked to their list: 3 `plural` `which`.

    `count` is an expression, since one statement counts everything.
    """

    plural: str
    count: Subquery
    url: str
    which: str = ""


@frozen
class Counted:
    """An amount as it is shown. `text`: "3 drafts"."""

    text: str
    url: str


@frozen
class Day:
    """A bar of the chart: a day's event count, its height in percent of the highest, the URL of the list.

    `is_partial`: it is today.
    """

    at: date
    events: int
    percent: int
    url: str
    is_partial: bool


class ListUrl(Protocol):
    """Returns the URL of a model's list, filtered by the chosen project."""

    def __call__(self, model: str, /, **filters: Any) -> str: ...


# Registered by apps. Each function gets the ids of the shown projects.
inventory: list[Callable[[Sequence[int], ListUrl], Sequence[Amount]]] = []
# What waits for the person: variables of ctxhub/for_you.html.
for_you: list[Callable[[HttpRequest], dict[str, Any]]] = []


def counting(rows: QuerySet[Any]) -> Subquery:
    """The number of the rows, as an expression."""
    counted = rows.order_by().annotate(rows_counted=Func(F("pk"), function="COUNT"))
    return Subquery(counted.values("rows_counted"), output_field=BigIntegerField())


def tallied(kind: str, project_ids: Sequence[int], **status: int) -> Subquery:
    """The number of rows of a kind that has counters, or of those with a `status`."""
    counters = Tally.unscoped.filter(project__in=project_ids, noun=kind, **status).order_by()
    added = counters.annotate(rows_counted=Func(F("count"), function="SUM"))
    return Subquery(added.values("rows_counted"), output_field=BigIntegerField())


def add_context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The dashboard's context. The number of queries does not grow with the data."""
    project, project_ids = chosen_project(request), shown_project_ids(request)
    list_url = list_url_in(project)
    live = live_context(request)
    has_events, access = live["has_events"], access_of(request)
    return {
        **context,
        **live,
        "title": str(project) if project else "Overview",
        "is_new": not has_events,
        **({} if has_events else connect_context(request)),
        "has_large_search": has_events,
        "days": _days(project_ids, list_url) if has_events else [],
        "layers": _layers(project, project_ids, access) if has_events else [],
    }


def live_context(request: HttpRequest) -> dict[str, Any]:
    """What renews itself: the needs, the inventory, and what happened while the person was away."""
    project, project_ids = chosen_project(request), shown_project_ids(request)
    list_url, access = list_url_in(project), access_of(request)
    away = away_of(request)
    has_events = bool(away.lanes or away.last)
    shown = {project_id: access.projects[project_id] for project_id in project_ids}
    page = in_project(reverse("admin:index"), project)
    name, user_id = request.user.get_username(), request.user.pk or 0
    reader = Reader(shown, project, name, page, user_id, access.project_ids(ADMIN))
    return {
        "project": project,
        "projects": list(access.projects.values()),
        **{name: value for part in for_you if has_events for name, value in part(request).items()},
        "needs": needs_of(reader, access) if has_events else None,
        "inventory": _inventory(project_ids, list_url) if has_events else [],
        "away": away,
        "has_events": has_events,
        "live_url": in_project(reverse("admin_overview"), project, **renewed_by(request, away)),
        "stream_url": in_project(reverse("admin_overview_events"), project),
    }


def list_url_in(project: Project | None) -> ListUrl:
    def list_url(model: str, /, **filters: Any) -> str:
        return urls.list_url(model, project, **filters)

    return list_url


def _inventory(project_ids: Sequence[int], list_url: ListUrl) -> list[Counted]:
    """What there is, without what there is none of; all counted in one statement."""
    amounts = [amount for make in inventory for amount in make(project_ids, list_url)]
    counts = _values_of([amount.count for amount in amounts], project_ids)
    return [
        Counted(f"{counted(count, amount.plural)} {amount.which}".strip(), amount.url)
        for amount, count in zip(amounts, counts, strict=True)
        if count
    ]


def _values_of(expressions: Sequence[Subquery], project_ids: Sequence[int]) -> Sequence[int]:
    """The values of the expressions, in one statement: as columns of some project."""
    [values] = Project.objects.filter(pk=project_ids[0]).values_list(*expressions)
    return list(values)


def own_amounts(project_ids: Sequence[int], list_url: ListUrl) -> list[Amount]:
    active = Agent.unscoped.filter(heard("last_seen_at"), project__in=project_ids)
    today = timezone.localdate()
    events = Event.unscoped.filter(project__in=project_ids, at__gte=_midnight(today))
    return [
        Amount("agents", counting(active), list_url("core_agent"), f"active in the last {IN_WORDS}"),
        Amount("events", counting(events), _url_of_day(today, list_url), "today"),
    ]


def _layers(project: Project | None, project_ids: Sequence[int], access: Access) -> list[LayerBars]:
    """The layer chart of the only shown project; [] for several, since each project has its own layers."""
    shown = access.projects[project_ids[0]] if len(project_ids) == 1 else project
    return layer_chart(shown) if shown else []


def _days(project_ids: Sequence[int], list_url: ListUrl) -> list[Day]:
    """Event counts by day for two weeks. Each is a range of the index by time."""
    today = timezone.localdate()
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS_SHOWN))]
    events = Event.unscoped.filter(project__in=project_ids)
    ranges = [
        events.filter(at__gte=_midnight(day), at__lt=_midnight(day + timedelta(days=1))) for day in days
    ]
    counts = _values_of([counting(rows) for rows in ranges], project_ids)
    most = max([*counts, 1])
    return [
        Day(day, count, round(100 * count / most), _url_of_day(day, list_url), day == today)
        for day, count in zip(days, counts, strict=True)
    ]


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def _url_of_day(day: date, list_url: ListUrl) -> str:
    return list_url("core_event", at__year=day.year, at__month=day.month, at__day=day.day)
