"""The periods that a page offers, as tabs."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.console.timeline.periods import FIELD_FORMAT, TITLES, VISIT, Period, yesterday_evening
from ctxhub.console.urls import in_project
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project


@frozen
class Choice:
    title: str
    url: str
    is_current: bool


OFFERED = ("1h", "12h", "24h", "7d")


def period_choices(
    page: str,
    project: Project | None,
    period: Period,
    last_visit: datetime | None = None,
    offered: Sequence[str] = OFFERED,
) -> list[Choice]:
    """The last hours or days, since yesterday evening, since the last visit. `page`: its URL."""
    since = period.local(yesterday_evening(period.zone))
    is_since = not period.last and period.begin == since
    lasts = [
        Choice(TITLES[last], in_project(page, project, last=last), period.last == last) for last in offered
    ]
    evening = Choice(
        "Since yesterday 18:00", in_project(page, project, **{"from": since.strftime(FIELD_FORMAT)}), is_since
    )
    visit = [Choice("Since my last visit", in_project(page, project, last=VISIT), period.last == VISIT)]
    return [*lasts, evening, *(visit if last_visit else [])]
