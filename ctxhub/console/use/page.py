"""The template context of the page of use and cost."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from ctxhub.console.timeline.choices import period_choices
from ctxhub.console.timeline.periods import read_period
from ctxhub.console.urls import list_url
from ctxhub.console.use.changed import most_changed_of
from ctxhub.console.use.stored import stored_context
from ctxhub.console.use.sums import OTHERS, Sum, chart_by_tool, sum_of, sums
from ctxhub.core.accounts.agents import ids_of_names
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.templatetags.agents import agent_url
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use.queries import empty_searches_between, use_between
from ctxhub.toolbox.tool_list import list_tools

DEFAULT = "7d"
OFFERED = ("24h", "7d", "30d")
HOURS_UNTIL = timedelta(days=2)
ROWS_SHOWN = 10
NAMELESS = "many agents"


@frozen
class Unread:
    """Objects of a kind that nobody was given. `rows`: the oldest, as (name, url)."""

    title: str
    count: int
    rows: Sequence[tuple[str, str]]


# What nobody reads; apps register how they find it, for a project and a number of rows.
unread: list[Callable[[Project, int], Sequence[Unread]]] = []


def use_context(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The number of statements does not grow with the calls."""
    period = read_period(query, ZoneInfo(read_config(project.config).time_zone), default=DEFAULT)
    bucket = "hour" if period.length <= HOURS_UNTIL else "day"
    begin = period.begin.replace(minute=0, second=0, microsecond=0)
    rows = use_between(project.pk, begin, period.end, bucket=bucket, by=("agent", "operation"))
    empty = list(empty_searches_between(project.pk, period.begin, period.end)[:ROWS_SHOWN])
    askers = ids_of_names(project.pk, (each.name.casefold() for each in empty))
    by_operation = sums(rows, lambda row: row.operation or OTHERS)
    return {
        "period": period,
        "choices": period_choices(reverse("admin:core_tokenuse_cost"), project, period, offered=OFFERED),
        "total": sum_of("", rows),
        "chart": chart_by_tool(rows, period, begin, bucket, "tokens") if rows else None,
        "bucket": bucket,
        "agents": _with_urls(project, sums(rows, lambda row: row.name or NAMELESS)),
        "operations": by_operation,
        "expensive": sorted(by_operation, key=lambda one: -one.most_tokens)[:ROWS_SHOWN],
        "empty_searches": [(each, askers.get(each.name.casefold())) for each in empty],
        "empty_searches_url": list_url("core_emptysearch", project),
        "unread": [kind for find in unread for kind in find(project, ROWS_SHOWN)],
        "changed": [one for find in most_changed_of for one in find(project, period, ROWS_SHOWN)],
        "tool_list": tool_list_tokens(),
        **stored_context(project, ROWS_SHOWN),
    }


@cache
def tool_list_tokens() -> Mapping[str, int]:
    """What the list of tools costs in each session of an agent, by profile."""
    caller = Caller(Project(), "")
    return {profile: _list_tokens(list_tools(caller, profile=profile)) for profile in ("all", "core")}


# -- Pieces ----------------------------------------------------------------------------------------


def _list_tokens(tools: Iterable[Mapping[str, Any]]) -> int:
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    return count_tokens(json.dumps(seen, ensure_ascii=False, separators=(",", ":")))


def _with_urls(project: Project, sums: Sequence[Sum]) -> list[Sum]:
    ids = ids_of_names(project.pk, (one.name.casefold() for one in sums))
    return [
        Sum(**{**_as_dict(one), "url": agent_url(pk)})
        for one in sums
        for pk in [ids.get(one.name.casefold())]
    ]


def _as_dict(one: Sum) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Sum.__dataclass_fields__}
