"""What each agent did in a period: its events counted by kind and action, each count a link to the log."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count
from django.urls import reverse

from ctxhub.console.timeline.choices import period_choices
from ctxhub.console.timeline.page import log_url, same_period
from ctxhub.console.timeline.periods import Period, read_period
from ctxhub.core.accounts.agents import agent_names
from ctxhub.core.accounts.config import read_config
from ctxhub.core.events.words import action_word, kind_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event, Project
from ctxhub.core.templatetags.agents import SYSTEM, agent_url

AGENTS_SHOWN = 100


@frozen
class Counted:
    """`parts`: of a kind its actions."""

    word: str
    count: int
    url: str
    parts: Sequence["Counted"] = ()


@frozen
class AgentRow:
    """`percent`: of the events of the busiest agent."""

    agent_id: int | None
    name: str
    url: str
    log_url: str
    events: int
    percent: int
    kinds: Sequence[Counted]


def by_agent_context(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The template context. The number of statements does not grow with what happened."""
    period = read_period(query, ZoneInfo(read_config(project.config).time_zone))
    counts = _count(project, period)
    totals = Counter({agent_id: of_agent.total() for agent_id, of_agent in counts.items()})
    busiest = totals.most_common(AGENTS_SHOWN)
    names = agent_names(project.pk, [agent_id for agent_id, _ in busiest])
    most = max(totals.values(), default=1)
    return {
        "period": period,
        "choices": period_choices(reverse("admin:core_event_agents"), project, period),
        "rows": [
            _row(project, period, agent_id, names.get(agent_id or 0, SYSTEM), counts[agent_id], most)
            for agent_id, _ in busiest
        ],
        "left_out": len(totals) - len(busiest),
        "events": totals.total(),
        "log_url": log_url(project, period),
        "timeline_url": same_period(reverse("admin:core_event_timeline"), project, period),
    }


def _count(project: Project, period: Period) -> Mapping[int | None, Counter[tuple[str, str]]]:
    """The events of each agent by noun and verb, in one statement."""
    events = Event.objects.in_project(project.pk).filter(at__gte=period.begin, at__lt=period.end)
    counts: dict[int | None, Counter[tuple[str, str]]] = defaultdict(Counter)
    grouped = events.order_by().values_list("agent_id", "noun", "verb").annotate(Count("pk"))
    for agent_id, noun, verb, count in grouped:
        counts[agent_id][noun, verb] = count
    return counts


def _row(
    project: Project,
    period: Period,
    agent_id: int | None,
    name: str,
    counts: Counter[tuple[str, str]],
    most: int,
) -> AgentRow:
    # The log has no filter for what no agent did.
    filters = {"agent": name} if agent_id else {}
    by_noun: dict[str, Counter[str]] = defaultdict(Counter)
    for (noun, verb), count in counts.items():
        by_noun[noun][verb] = count

    def kind(noun: str, verbs: Counter[str]) -> Counted:
        actions = [
            Counted(action_word(verb), count, log_url(project, period, **filters, noun=noun, verb=verb))
            for verb, count in verbs.most_common()
        ]
        url = log_url(project, period, **filters, noun=noun)
        return Counted(kind_word(noun), verbs.total(), url, actions)

    return AgentRow(
        agent_id,
        name,
        agent_url(agent_id),
        log_url(project, period, **filters),
        counts.total(),
        round(100 * counts.total() / most),
        [kind(*each) for each in sorted(by_noun.items(), key=lambda each: (-each[1].total(), each[0]))],
    )
