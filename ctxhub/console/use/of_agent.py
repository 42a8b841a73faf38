"""What an agent called in the last two weeks: by hour as a heat map, by day and tool as charts."""

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ctxhub.console.graphs.heat_map import heat_map
from ctxhub.console.timeline.periods import Period
from ctxhub.console.use.sums import chart_by_tool, sum_of, sums, tool_of
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit import clock
from ctxhub.core.models import Agent
from ctxhub.core.use.queries import use_between

DAYS = 14


def use_of_agent(agent: Agent) -> dict[str, Any]:
    """The template context, from one reading of the counts."""
    zone = ZoneInfo(read_config(agent.project.config).time_zone)
    now = clock.now().astimezone(zone)
    days = [now.date() - timedelta(days=ago) for ago in reversed(range(DAYS))]
    period = Period(datetime.combine(days[0], time(), zone).astimezone(UTC), now, zone)
    rows = use_between(
        agent.project_id, period.begin, now, bucket="hour", by=("operation",), agent=agent.name
    )
    calls: Counter[tuple[date, int]] = Counter()
    for row in rows:
        calls[row.hour.date(), row.hour.hour] += row.calls
    return {
        "days": DAYS,
        "total": sum_of("", rows),
        "by_hour": heat_map(calls, days, now, "calls"),
        "charts": [
            (counted, chart_by_tool(rows, period, period.begin, "day", counted))
            for counted in ("tokens", "calls")
            if rows
        ],
        "tools": sums(rows, lambda row: tool_of(row.operation)),
    }
