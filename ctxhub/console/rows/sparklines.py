"""Sparklines: how often the objects of one page of a list were written, in one statement for all of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event

DAYS, BARS = 28, 14
# Of a page: the statement reads no more of the log, so that a busy project is no slower.
EVENTS_LOOKED_AT = 3_000
WIDTH, HEIGHT = 3, 14
# A single write is no history.
LEAST = 2


@frozen
class Bar:
    """In pixels, from the upper left corner."""

    x: int
    y: int
    height: int


@frozen
class Sparkline:
    """`writes` since `since`: the last DAYS days, or the time of the latest EVENTS_LOOKED_AT events."""

    bars: Sequence[Bar]
    writes: int
    since: datetime

    width = BARS * (WIDTH + 1) - 1
    height = HEIGHT
    bar_width = WIDTH

    @property
    def words(self) -> str:
        return f"{self.writes:,} writes since {timezone.localtime(self.since):%Y-%m-%d %H:%M}"


def sparklines(field: str, values: Sequence[tuple[int, Any]]) -> dict[tuple[int, Any], Sparkline]:
    """By project and `ref` or `agent`, which `field` names, of those that were written more than once."""
    if not values:
        return {}
    now = clock.now()
    projects = {project_id for project_id, _ in values}
    latest = Event.unscoped.filter(project__in=projects, at__gte=now - timedelta(days=DAYS)).order_by("-pk")
    looked_at = latest[:EVENTS_LOOKED_AT]
    events = Event.unscoped.filter(
        pk__in=looked_at.values("pk"), **{f"{field}__in": {value for _, value in values}}
    )
    written: dict[tuple[int, Any], list[datetime]] = {}
    for project_id, value, at in events.order_by().values_list("project", field, "at"):
        written.setdefault((project_id, value), []).append(at)
    oldest = latest.values_list("at", flat=True)[EVENTS_LOOKED_AT - 1 : EVENTS_LOOKED_AT].first()
    since = oldest or now - timedelta(days=DAYS)
    return {key: _drawn(times, since, now) for key, times in written.items() if len(times) >= LEAST}


def _drawn(times: Sequence[datetime], since: datetime, now: datetime) -> Sparkline:
    counts = [0] * BARS
    for at in times:
        counts[max(0, min(BARS - 1, int((at - since) / (now - since) * BARS)))] += 1
    heights = [max(3, round(count / max(counts) * HEIGHT)) if count else 1 for count in counts]
    bars = [Bar(place * (WIDTH + 1), HEIGHT - height, height) for place, height in enumerate(heights)]
    return Sparkline(bars, len(times), since)
