"""The template context of the page of use and cost."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from ctxhub.core.accounts.selectors.config import read_config
from ctxhub.core.admin.graphs.stacked_chart import Series, stacked_chart
from ctxhub.core.admin.timeline.choices import period_choices
from ctxhub.core.admin.timeline.periods import Period, read_period
from ctxhub.core.admin.urls import list_url
from ctxhub.core.kit.buckets import start_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.toolbox.actions import all_tools
from ctxhub.core.toolbox.tool_list import list_tools
from ctxhub.core.use.selectors import empty_searches_between, use_between
from ctxhub.core.use.sql import UseRow

DEFAULT = "7d"
OFFERED = ("24h", "7d", "30d")
HOURS_UNTIL = timedelta(days=2)
TOOLS_SHOWN = 6
ROWS_SHOWN = 10
OTHERS = "others"
NAMELESS = "many agents"


@dataclass(frozen=True, slots=True)
class Sum:
    """Calls of an agent, an operation or all. `url`: "" for no page."""

    name: str
    calls: int = 0
    errors: int = 0
    writes: int = 0
    tokens: int = 0
    whole_tokens: int = 0
    most_tokens: int = 0
    url: str = ""

    @property
    def mean(self) -> int:
        return round(self.tokens / self.calls) if self.calls else 0

    @property
    def reads(self) -> int:
        return self.calls - self.writes

    @property
    def saved(self) -> int:
        return self.whole_tokens - self.tokens

    @property
    def times(self) -> str:
        """How many times the tokens it would have cost whole: "3.2 times"; "" if about as many."""
        ratio = self.whole_tokens / self.tokens if self.tokens else 1
        return f"{ratio:.1f} times" if ratio >= MENTIONED else ""


@dataclass(frozen=True, slots=True)
class Unread:
    """Objects of a kind that nobody was given. `rows`: the oldest, as (name, url)."""

    title: str
    count: int
    rows: Sequence[tuple[str, str]]


MENTIONED = 1.05

# What nobody reads; apps register how they find it, for a project and a number of rows.
unread: list[Callable[[Project, int], Sequence[Unread]]] = []


def use_context(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The number of statements does not grow with the calls."""
    period = read_period(query, ZoneInfo(read_config(project.config).time_zone), default=DEFAULT)
    bucket = "hour" if period.length <= HOURS_UNTIL else "day"
    begin = period.begin.replace(minute=0, second=0, microsecond=0)
    rows = use_between(project.pk, begin, period.end, bucket=bucket, by=("agent", "operation"))
    by_operation = _sums(rows, lambda row: row.operation or OTHERS)
    return {
        "period": period,
        "choices": period_choices(reverse("admin:core_tokenuse_cost"), project, period, offered=OFFERED),
        "total": _sum("", rows),
        "chart": _chart(rows, period, begin, bucket) if rows else None,
        "bucket": bucket,
        "agents": _with_urls(project, _sums(rows, lambda row: row.name or NAMELESS)),
        "operations": by_operation,
        "expensive": sorted(by_operation, key=lambda one: -one.most_tokens)[:ROWS_SHOWN],
        "empty_searches": empty_searches_between(project.pk, period.begin, period.end)[:ROWS_SHOWN],
        "empty_searches_url": list_url("core_emptysearch", project),
        "unread": [kind for find in unread for kind in find(project, ROWS_SHOWN)],
        "tool_list": tool_list_tokens(),
    }


def writing_operations() -> frozenset[str]:
    """The operations of the tools that write."""
    return frozenset(
        action.call for tool in all_tools().values() for action in tool.actions.values() if action.writes
    )


@cache
def tool_list_tokens() -> Mapping[str, int]:
    """What the list of tools costs in each session of an agent, by profile."""
    caller = Caller(Project(), "")
    return {profile: _list_tokens(list_tools(caller, profile=profile)) for profile in ("all", "core")}


# -- Pieces ----------------------------------------------------------------------------------------


def _list_tokens(tools: Iterable[Mapping[str, Any]]) -> int:
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    return count_tokens(json.dumps(seen, ensure_ascii=False, separators=(",", ":")))


def _is_write(operation: str, writing: Set[str]) -> bool:
    """`writing`: the operations of the tools that write."""
    method, _, address = operation.partition(" ")
    return method not in ("GET", "HEAD") if address else operation in writing


def _sum(name: str, rows: Iterable[UseRow]) -> Sum:
    rows, writing = list(rows), writing_operations()
    return Sum(
        name,
        sum(row.calls for row in rows),
        sum(row.errors for row in rows),
        sum(row.calls for row in rows if _is_write(row.operation, writing)),
        sum(row.tokens for row in rows),
        sum(row.whole_tokens for row in rows),
        max((row.most_tokens for row in rows), default=0),
    )


def _sums(rows: Iterable[UseRow], name_of: Callable[[UseRow], str]) -> list[Sum]:
    """A sum for each name, those with the most tokens first."""
    groups: dict[str, list[UseRow]] = defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    sums = [_sum(name, group) for name, group in groups.items()]
    return sorted(sums, key=lambda one: (-one.tokens, -one.calls, one.name))


def _with_urls(project: Project, sums: Sequence[Sum]) -> list[Sum]:
    folded = {one.name.casefold() for one in sums}
    found = Agent.objects.in_project(project.pk).filter(folded__in=folded).values_list("folded", "pk")
    ids = dict(found)
    return [
        Sum(**{**_as_dict(one), "url": reverse("admin:core_agent_change", args=[pk]) if pk else ""})
        for one in sums
        for pk in [ids.get(one.name.casefold())]
    ]


def _as_dict(one: Sum) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Sum.__dataclass_fields__}


def _chart(rows: Sequence[UseRow], period: Period, begin: datetime, bucket: str) -> Any:
    """Tokens by bucket and tool; the tools with the most tokens each for itself."""
    starts = _starts(period, begin, bucket)
    tokens: dict[str, dict[datetime, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        tokens[_tool_of(row.operation)][row.hour] += row.tokens
    most = sorted(tokens, key=lambda tool: (-sum(tokens[tool].values()), tool))
    kept, rest = most[:TOOLS_SHOWN], most[TOOLS_SHOWN:]
    if rest:
        kept.append(OTHERS)
        for tool in rest:
            for start, count in tokens[tool].items():
                tokens[OTHERS][start] += count
    series = [Series(tool, [tokens[tool].get(start, 0) for start in starts]) for tool in kept]
    form = "%H:%M" if bucket == "hour" else "%d %b"
    return stacked_chart([start.strftime(form) for start in starts], series, "tokens")


def _starts(period: Period, begin: datetime, bucket: str) -> list[datetime]:
    """The starts of all buckets of a period, in the project's time zone."""
    starts = [start_of(begin, bucket, period.zone)]
    step = timedelta(hours=1)
    at = begin
    while at + step < period.end:
        at += step
        starts.append(start_of(at, bucket, period.zone))
    return [starts[0], *(later for earlier, later in pairwise(starts) if later != earlier)]


def _tool_of(operation: str) -> str:
    """The tool of an operation; addresses of REST without one are `REST`."""
    if " " in operation:
        return "REST"
    return operation.partition(".")[0] or OTHERS
