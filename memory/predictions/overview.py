"""The overview of a project's snapshots: tiers, actions, reasons, and how good the predictions were."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.console.graphs.line_chart import Line, LineChart, line_chart
from ctxhub.console.urls import list_url
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from memory.predictions.learning import Week, get_weeks
from memory.predictions.page import PARTS, in_words
from memory.predictions.predictions import DEFAULT_WEIGHTS
from memory.predictions.statistics import SnapshotStats, get_stats
from memory.snapshots.models import ActionType, Tier

# The Brier score of one who always says .5: the chart is at least so high.
CHANCE = 0.25


@frozen
class Bar:
    """A count. `percent`: its length, of the longest; `share`: of all."""

    name: str
    count: int
    percent: int
    share: int
    url: str = ""


@frozen
class WeekBar:
    """The hits and misses of a week, in percent of the highest week."""

    week: Week
    hits: int
    misses: int


@frozen
class Weight:
    name: str
    meaning: str
    value: float
    default: float


def overview_of(project: Project) -> dict[str, Any]:
    """The template context, in a fixed number of queries."""
    stats, weeks = get_stats(project.pk), get_weeks(project.pk)
    hits, misses = sum(week.hits for week in weeks), sum(week.misses for week in weeks)
    return {
        "stats": stats,
        "tiers": _tiers(project, stats),
        "actions": _actions(project, stats),
        "reasons": _bars(
            {in_words(reason): count for reason, count in stats["prediction"]["reasons"].items()}
        ),
        "weeks": _week_bars(weeks) if hits or misses else [],
        "hits": hits,
        "misses": misses,
        "hit_percent": round(100 * hits / (hits + misses)) if hits or misses else 0,
        "brier": _brier_chart(weeks) if hits or misses else None,
        "weights": _weights(stats),
        "is_learned": stats["prediction"]["brier"] is not None,
    }


def _tiers(project: Project, stats: SnapshotStats) -> list[Bar]:
    counts = {str(label): stats["memory"][label] for label in Tier.labels}  # type: ignore[literal-required]
    return _bars(counts, {name: list_url("memory_snapshot", project, tier=name) for name in counts})


def _actions(project: Project, stats: SnapshotStats) -> list[Bar]:
    counts = stats["causality"]["by_action"]
    urls = {
        str(action.label): list_url("memory_snapshot", project, action_type__exact=action.value)
        for action in ActionType
    }
    return _bars(counts, urls)


def _bars(counts: Mapping[str, int], urls: Mapping[str, str] | None = None) -> list[Bar]:
    most, total = max([*counts.values(), 1]), max(sum(counts.values()), 1)
    return [
        Bar(
            name.replace("_", " "),
            count,
            round(100 * count / most),
            round(100 * count / total),
            (urls or {}).get(name, ""),
        )
        for name, count in counts.items()
    ]


def _week_bars(weeks: Sequence[Week]) -> list[WeekBar]:
    most = max(week.hits + week.misses for week in weeks) or 1
    return [WeekBar(week, round(100 * week.hits / most), round(100 * week.misses / most)) for week in weeks]


def _brier_chart(weeks: Sequence[Week]) -> LineChart:
    names = [f"{week.begins.day} {week.begins:%b}" for week in weeks]
    lines = [
        Line("default weights", "baseline", [week.baseline for week in weeks]),
        Line("predictions", "brier", [week.brier for week in weeks]),
    ]
    return line_chart(names, lines, at_least=CHANCE)


def _weights(stats: SnapshotStats) -> list[Weight]:
    own = stats["prediction"]["weights"]
    return [
        Weight(name, meaning, own[field], getattr(DEFAULT_WEIGHTS, field))  # type: ignore[literal-required]
        for field, name, meaning in PARTS
    ]
