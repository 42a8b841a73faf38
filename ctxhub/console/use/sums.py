"""Sums of use: by agent, operation and tool, and by time for a chart."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Literal

from ctxhub.console.graphs.stacked_chart import Series, StackedChart, stacked_chart
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.buckets import start_of
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.use.queries import UseRow
from ctxhub.toolbox.actions import all_tools

TOOLS_SHOWN = 6
OTHERS = "others"
MENTIONED = 1.05
HOUR = timedelta(hours=1)


@frozen
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


@cache
def writing_operations() -> frozenset[str]:
    """The operations of the tools that write."""
    return frozenset(
        action.call for tool in all_tools().values() for action in tool.actions.values() if action.writes
    )


def sum_of(name: str, rows: Iterable[UseRow]) -> Sum:
    rows = list(rows)
    writing = {operation for operation in {row.operation for row in rows} if _is_write(operation)}
    return Sum(
        name,
        sum(row.calls for row in rows),
        sum(row.errors for row in rows),
        sum(row.calls for row in rows if row.operation in writing),
        sum(row.tokens for row in rows),
        sum(row.whole_tokens for row in rows),
        max((row.most_tokens for row in rows), default=0),
    )


def sums(rows: Iterable[UseRow], name_of: Callable[[UseRow], str]) -> list[Sum]:
    """A sum for each name, those with the most tokens first."""
    groups: dict[str, list[UseRow]] = defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    found = [sum_of(name, group) for name, group in groups.items()]
    return sorted(found, key=lambda one: (-one.tokens, -one.calls, one.name))


def chart_by_tool(
    rows: Iterable[UseRow],
    period: Period,
    begin: datetime,
    bucket: str,
    counted: Literal["tokens", "calls"],
) -> StackedChart:
    """Tokens or calls by bucket and tool; the tools with the most each for itself.

    `begin`: of the rows, a full hour. They may divide the buckets further.
    """
    starts, zone = starts_of(period, begin, bucket), period.zone
    counts: dict[str, dict[datetime, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        counts[tool_of(row.operation)][start_of(row.hour, bucket, zone)] += getattr(row, counted)
    most = sorted(counts, key=lambda tool: (-sum(counts[tool].values()), tool))
    kept, rest = most[:TOOLS_SHOWN], most[TOOLS_SHOWN:]
    if rest:
        kept.append(OTHERS)
        for tool in rest:
            for start, count in counts[tool].items():
                counts[OTHERS][start] += count
    series = [Series(tool, [counts[tool].get(start, 0) for start in starts]) for tool in kept]
    form = "%H:%M" if bucket == "hour" else "%d %b"
    names = [start.strftime(form) for start in starts]
    return stacked_chart(names, series, counted, partial_buckets(period, begin, bucket, starts))


def partial_buckets(
    period: Period, begin: datetime, bucket: str, starts: Sequence[datetime]
) -> Mapping[int, str]:
    """Of which part of its time the first and the last bucket are, in words, if they are not whole."""
    partial: dict[int, str] = {}
    if starts[0] < begin:
        partial[0] = f"from {period.local(begin):%H:%M}"
    # The hour of the end is counted whole.
    end = start_of(period.end + HOUR - timedelta.resolution, "hour", period.zone)
    last = starts[-1] + (HOUR if bucket == "hour" else timedelta(days=1))
    if last > (end if period.has_end else period.end):
        words = f"until {end:%H:%M}" if period.has_end else "so far"
        partial[len(starts) - 1] = ", ".join([*partial.values(), words] if len(starts) == 1 else [words])
    return partial


def starts_of(period: Period, begin: datetime, bucket: str) -> list[datetime]:
    """The starts of all buckets of a period, in the project's time zone."""
    starts = [start_of(begin, bucket, period.zone)]
    at = begin
    while at + HOUR < period.end:
        at += HOUR
        starts.append(start_of(at, bucket, period.zone))
    return [starts[0], *(later for earlier, later in pairwise(starts) if later != earlier)]


def tool_of(operation: str) -> str:
    """The tool of an operation; addresses of REST without one are `REST`."""
    if " " in operation:
        return "REST"
    return operation.partition(".")[0] or OTHERS


# -- Pieces ----------------------------------------------------------------------------------------


def _is_write(operation: str) -> bool:
    method, _, address = operation.partition(" ")
    return method not in ("GET", "HEAD") if address else operation in writing_operations()
