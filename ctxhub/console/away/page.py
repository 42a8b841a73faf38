"""The part of the first page that tells what happened while the person was away."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from ctxhub.console.access import access_of, chosen_project, shown_project, shown_project_ids
from ctxhub.console.away.lanes import HEIGHT, LANES_SHOWN, WIDTH, Lane, Reader, in_order, lanes_of
from ctxhub.console.away.sources import kinds, waiting
from ctxhub.console.away.work import read_work
from ctxhub.console.timeline.axis import axis_times
from ctxhub.console.timeline.choices import Choice, period_choices
from ctxhub.console.timeline.page import log_url, same_period
from ctxhub.console.timeline.periods import DEFAULT, VISIT, Period, read_period
from ctxhub.console.urls import in_project
from ctxhub.core.accounts.config import read_config
from ctxhub.core.accounts.names_of_people import acting_name
from ctxhub.core.accounts.visits import ENDS_AFTER, READ_ON_FOR, last_visit
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event, Project

# A weekend. Of a longer absence the timeline tells more: all events of a week are 0.15 s on a busy hub.
LONGEST_TOLD = timedelta(days=3)
LABELS = 5
CHOSEN = ("last", "from", "to")


@frozen
class Label:
    """A time on the axis, `percent` of the way."""

    text: str
    percent: float


@frozen
class Away:
    """`since`: when the last visit ended, if that is told. `last`: the last event, where nothing happened."""

    period: Period
    since: datetime | None
    choices: Sequence[Choice]
    lanes: Sequence[Lane]
    left_out: int
    labels: Sequence[Label]
    last: Event | None
    timeline_url: str
    by_agent_url: str
    log_url: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def is_cut(self) -> bool:
        return self.since is not None and self.since < self.period.begin


def away_of(request: HttpRequest) -> Away:
    """The number of statements does not grow with what happened."""
    project, project_ids = chosen_project(request), shown_project_ids(request)
    period, since = _told_period(request)
    in_force = sorted(kinds, key=lambda kind: kind.place)
    senders = {sender: count for find in waiting for sender, count in find(request).items()}
    works = in_order(read_work(project_ids, period, in_force, senders)) if project_ids else []
    details = {
        kind.noun: kind.details(project_ids, period)
        for kind in in_force
        if kind.details and any(kind.noun in work.objects for work in works)
    }
    shown = {project_id: access_of(request).projects[project_id] for project_id in project_ids}
    reader = Reader(shown, acting_name(request.user.get_username()))
    return Away(
        period,
        since,
        period_choices(reverse("admin:index"), project, period, since, offered=("24h",)),
        lanes_of(works[:LANES_SHOWN], period, reader, in_force, details),
        max(len(works) - LANES_SHOWN, 0),
        [_label(each.at, each.text, period) for each in axis_times(period, LABELS)],
        None if works else _last_event(project_ids),
        _timeline_url(project, period, since),
        same_period(reverse("admin:core_event_agents"), project, period),
        log_url(project, period),
    )


def renewed_by(request: HttpRequest, away: Away) -> dict[str, str]:
    """The query of the request that renews the part: it goes on telling the same period."""
    chosen = {name: request.GET[name] for name in CHOSEN if name in request.GET}
    return chosen or ({"since": away.since.isoformat()} if away.since else {})


def _told_period(request: HttpRequest) -> tuple[Period, datetime | None]:
    """The period, and when the last visit ended; None at the first.

    Without a choice it is since then. It begins with a minute, as the fields of the timeline do.
    """
    since = _last_visit(request)
    query = {name: request.GET[name] for name in CHOSEN if name in request.GET}
    period = read_period(query or {"last": VISIT if since else DEFAULT}, _zone(request), since)
    begin = max(period.begin, period.end - LONGEST_TOLD).replace(second=0, microsecond=0)
    return replace(period, begin=begin), since


def _last_visit(request: HttpRequest) -> datetime | None:
    if not request.user.pk:
        return None
    told = _read(request.GET.get("since", ""))
    found = last_visit(request.user.pk, READ_ON_FOR if told else ENDS_AFTER)
    return max(told, found) if told and found else found


def _read(text: str) -> datetime | None:
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    return at if at and at.tzinfo else None


def _zone(request: HttpRequest) -> ZoneInfo:
    project = shown_project(request)
    return ZoneInfo(read_config(project.config).time_zone if project else "UTC")


def _timeline_url(project: Project | None, period: Period, since: datetime | None) -> str:
    """Of the whole absence, also of one that is told in part."""
    page = reverse("admin:core_event_timeline")
    is_visit = since is not None and period.last == VISIT
    return in_project(page, project, last=VISIT) if is_visit else same_period(page, project, period)


def _label(at: datetime, text: str, period: Period) -> Label:
    return Label(text, round(100 * ((at - period.begin) / period.length), 1))


def _last_event(project_ids: Sequence[int]) -> Event | None:
    rows = Event.unscoped.filter(project__in=project_ids).select_related("agent", "project")
    return rows.order_by("-pk").first()
