"""Moments as people read them: how long ago, with the moment itself under the pointer."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from ctxhub.core.clock import spoken

register = template.Library()


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    if at is None:
        return "never"
    return format_html(
        '<time class="ctx-nowrap" datetime="{}" title="{}">{}</time>', spoken(at), spoken(at), ago(at)
    )


def ago(at: datetime) -> str:
    now = timezone.now()
    if at > now:
        return f"in {_largest_unit(timesince(now, at))}"
    since = _largest_unit(timesince(at, now))
    return "just now" if since.startswith("0") else f"{since} ago"


def _largest_unit(since: str) -> str:
    return since.split(",")[0].replace("\xa0", " ")
