"""Template filters for datetimes: relative within a day, absolute otherwise; in full in the tooltip.

Times are in the current time zone: the project's, on a page about one project (ctxhub.middleware), else UTC.
"""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from ctxhub.core.kit.clock import format_time

register = template.Library()

NEAR = timedelta(days=1)
MINUTES_IN_HOUR, MINUTES_IN_DAY = 60, 24 * 60
# A weekday names one day only for so long.
DAYS_NAMED = 7


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    is_near = at is not None and abs(timezone.now() - at) < NEAR
    return _shown(at, ago(at) if is_near else f"{timezone.localtime(at):%Y-%m-%d %H:%M}") if at else "never"


@register.filter
def in_full(at: datetime | None) -> SafeString | str:
    """The datetime to the second and how long ago it was, for the page of a row."""
    return _shown(at, f"{_full(at)}, {ago(at)}") if at else "never"


@register.filter
def lasting(at: datetime) -> SafeString:
    """How long something lasts: "for 12 min", "for 3 h"; after a day since when: "since Thursday"."""
    return _shown(at, _lasting(at))


def _lasting(at: datetime) -> str:
    now = timezone.localtime()
    since, minutes = timezone.localtime(at), int((now - at).total_seconds() // 60)
    days = (now.date() - since.date()).days
    if minutes < 1:
        return "just now"
    if minutes < MINUTES_IN_DAY:
        return f"for {minutes} min" if minutes < MINUTES_IN_HOUR else f"for {minutes // MINUTES_IN_HOUR} h"
    if days < DAYS_NAMED:
        return "since yesterday" if days == 1 else f"since {since:%A}"
    return f"since {since.day} {since:%B}{'' if since.year == now.year else f' {since.year}'}"


def ago(at: datetime) -> str:
    now = timezone.now()
    if at > now:
        return f"in {_largest_unit(timesince(now, at))}"
    since = _largest_unit(timesince(at, now))
    return "just now" if since.startswith("0") else f"{since} ago"


def _shown(at: datetime, text: str) -> SafeString:
    return format_html(
        '<time class="ctx-nowrap" datetime="{}" title="{}">{}</time>', format_time(at), _full(at), text
    )


def _full(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S %Z}"


def _largest_unit(since: str) -> str:
    return since.split(",")[0].replace("\xa0", " ")
