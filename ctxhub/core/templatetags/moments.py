"""Template filters for datetimes: relative within a day, absolute otherwise. UTC, in full in the tooltip."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from ctxhub.core.kit.clock import format_time

register = template.Library()

NEAR = timedelta(days=1)


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    is_near = at is not None and abs(timezone.now() - at) < NEAR
    return _shown(at, ago(at) if is_near else f"{at:%Y-%m-%d %H:%M}") if at else "never"


@register.filter
def in_full(at: datetime | None) -> SafeString | str:
    """The datetime to the second and how long ago it was, for the page of a row."""
    return _shown(at, f"{at:%Y-%m-%d %H:%M:%S} UTC, {ago(at)}") if at else "never"


def ago(at: datetime) -> str:
    now = timezone.now()
    if at > now:
        return f"in {_largest_unit(timesince(now, at))}"
    since = _largest_unit(timesince(at, now))
    return "just now" if since.startswith("0") else f"{since} ago"


def _shown(at: datetime, text: str) -> SafeString:
    full = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return format_html(
        '<time class="ctx-nowrap" datetime="{}" title="{}">{}</time>', format_time(at), full, text
    )


def _largest_unit(since: str) -> str:
    return since.split(",")[0].replace("\xa0", " ")
