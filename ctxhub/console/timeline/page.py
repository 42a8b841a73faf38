"""The page of the timeline: its choices, its drawing, the same as a table, and what happened by agent."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from ctxhub.console.timeline.caps import Part, left_out
from ctxhub.console.timeline.choices import period_choices
from ctxhub.console.timeline.lanes import Lanes, lay_out
from ctxhub.console.timeline.newest import newest_events
from ctxhub.console.timeline.periods import Period, in_words, read_period
from ctxhub.console.timeline.refusals import Refusals, find_refusals
from ctxhub.console.timeline.sources import Account, Additions, Arrow, Bar, sources
from ctxhub.console.timeline.svg import marks_svg
from ctxhub.console.timeline.ticks import COLUMNS, SUBJECTS, Tick, count_ticks
from ctxhub.console.urls import in_project
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Agent, Project
from ctxhub.core.templatetags.agents import SYSTEM, agent_url

LANES_SHOWN = 16


@frozen
class Row:
    """What an agent did, in numbers: its events by subject, in the order of SUBJECTS, and its refusals."""

    agent_id: int | None
    name: str
    url: str
    counts: Sequence[int]
    events: int
    bars: int
    refusals: int


@frozen
class Story:
    """What an agent did, in words."""

    agent_id: int | None
    name: str
    url: str
    log_url: str
    events: int
    accounts: Sequence[Account]


@frozen
class _Found:
    """All that happened in the period, and the agents it concerns, the busiest first."""

    ticks: Sequence[Tick]
    bars: Sequence[Bar]
    arrows: Sequence[Arrow]
    accounts: Sequence[Account]
    refusals: Refusals
    additions: Sequence[Additions]
    agents: Sequence[tuple[int | None, str, str]]
    totals: Mapping[int | None, int]


def timeline_context(
    project: Project, query: Mapping[str, str], last_visit: datetime | None
) -> dict[str, Any]:
    """The template context. The number of statements does not grow with what happened."""
    zone = ZoneInfo(read_config(project.config).time_zone)
    period = read_period(query, zone, last_visit)
    found = _find(project, period)
    shown = found.agents[:LANES_SHOWN]
    drawing = lay_out(
        shown, period, ticks=found.ticks, bars=found.bars, arrows=found.arrows, marks=found.refusals.marks
    )
    return {
        "period": period,
        "choices": period_choices(reverse("admin:core_event_timeline"), project, period, last_visit),
        "subjects": SUBJECTS,
        "drawing": drawing,
        "marks": marks_svg(drawing),
        "column": in_words(period.length / COLUMNS),
        "left_out": _left_out(drawing, found),
        "newest": newest_events(project, period, {agent_id: name for agent_id, name, _ in found.agents}),
        "events": sum(found.totals.values()),
        "rows": _rows(found),
        "sections": [section for each in found.additions for section in each.sections],
        "notes": [note for each in found.additions for note in each.notes],
        "stories": _stories(project, period, found),
        "log_url": log_url(project, period),
        "by_agent_url": same_period(reverse("admin:core_event_agents"), project, period),
    }


def log_url(project: Project | None, period: Period, **filters: Any) -> str:
    """The events of the period in the log. What lasts until now has no end: fields have no seconds."""
    return same_period(reverse("admin:core_event_changelist"), project, period, **filters)


def same_period(page: str, project: Project | None, period: Period, **query: Any) -> str:
    """The URL of another page with the same period."""
    end = {"to": period.last_field} if period.has_end else {}
    return in_project(page, project, **{"from": period.first_field, **end, **query})


def _find(project: Project, period: Period) -> _Found:
    ticks = count_ticks(project, period)
    additions = [find(project, period) for find in sources]
    bars = [bar for each in additions for bar in each.bars]
    arrows = [arrow for each in additions for arrow in each.arrows]
    accounts = [account for each in additions for account in each.accounts]
    refusals = find_refusals(project, period)
    totals: Counter[int | None] = Counter()
    for tick in ticks:
        totals[tick.agent_id] += tick.count
    concerned = [bar.agent_id for bar in bars] + [arrow.agent_id for arrow in arrows]
    for agent_id in (*concerned, *(mark.agent_id for mark in refusals.marks)):
        totals[agent_id] += 0
    return _Found(ticks, bars, arrows, accounts, refusals, additions, _agents(project, totals), totals)


def _left_out(drawing: Lanes, found: _Found) -> list[str]:
    arrows = sum(each.all_arrows for each in found.additions)
    bars = sum(each.all_bars for each in found.additions)
    refused = sum(mark.count for mark in found.refusals.marks)
    return [
        *left_out(
            drawing,
            agents=len(found.agents),
            messages=Part(arrows, len(found.arrows)),
            leases=Part(bars, len(found.bars)),
            refusals=Part(found.refusals.total, refused),
        )
    ]


def _agents(project: Project, totals: Mapping[int | None, int]) -> list[tuple[int | None, str, str]]:
    names = dict(
        Agent.objects.in_project(project.pk).filter(pk__in=[*filter(None, totals)]).values_list("pk", "name")
    )
    busiest = sorted(totals, key=lambda agent_id: (-totals[agent_id], names.get(agent_id or 0, SYSTEM)))
    return [
        (agent_id, names.get(agent_id, SYSTEM) if agent_id else SYSTEM, agent_url(agent_id))
        for agent_id in busiest
        if agent_id is None or agent_id in names
    ]


def _rows(found: _Found) -> list[Row]:
    counts: Counter[tuple[int | None, str]] = Counter()
    for tick in found.ticks:
        counts[tick.agent_id, tick.subject] += tick.count
    bars = Counter(bar.agent_id for bar in found.bars)
    refusals: Counter[int] = Counter()
    for mark in found.refusals.marks:
        refusals[mark.agent_id] += mark.count
    return [
        Row(
            agent_id,
            name,
            url,
            [counts[agent_id, subject] for subject in SUBJECTS],
            found.totals[agent_id],
            bars[agent_id] if agent_id else 0,
            refusals[agent_id] if agent_id else 0,
        )
        for agent_id, name, url in found.agents
    ]


def _stories(project: Project, period: Period, found: _Found) -> list[Story]:
    accounts: dict[int | None, list[Account]] = defaultdict(list)
    for account in found.accounts:
        accounts[account.agent_id].append(account)
    return [
        Story(
            agent_id,
            name,
            url,
            log_url(project, period, **({"agent": name} if agent_id else {})),
            found.totals[agent_id],
            accounts[agent_id],
        )
        for agent_id, name, url in found.agents
        if found.totals[agent_id] or accounts[agent_id]
    ]
