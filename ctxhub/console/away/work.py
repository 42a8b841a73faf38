"""Reads what all agents did in a period, in one statement."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ctxhub.console.away.sources import AgentKey, Kind
from ctxhub.console.time_slots import CHARACTERS, begin_of
from ctxhub.console.timeline.columns import Columns
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Agent
from ctxhub.core.templatetags.agents import SYSTEM

COLUMNS = 48


@frozen
class Objects:
    """How many objects of a kind there were, and the first and the last of their refs."""

    count: int
    first: str
    last: str


@dataclass(slots=True)
class Work:
    """What an agent did. `columns`: its events by the column of the drawing; `others`: events of no kind.

    `agent_id` is None for what no agent did, and for one that was refused but is not registered.
    """

    project_id: int
    agent_id: int | None
    name: str
    is_person: bool = False
    last_seen_at: datetime | None = None
    objects: dict[str, Objects] = field(default_factory=dict)
    columns: Counter[int] = field(default_factory=Counter)
    others: int = 0
    refusals: int = 0
    waiting: int = 0

    @property
    def key(self) -> AgentKey:
        return self.project_id, self.agent_id

    @property
    def events(self) -> int:
        return self.columns.total()


def read_work(
    project_ids: Sequence[int], period: Period, kinds: Sequence[Kind], waiting: Mapping[int, int]
) -> list[Work]:
    """The work of each agent that did something, was refused, or waits for the person (`waiting`)."""
    columns = Columns(period, COLUMNS)
    found: dict[tuple[int, int | None, str], Work] = {}

    def of(project_id: int, agent_id: int | None, name: str = "") -> Work:
        key = (project_id, agent_id, "" if agent_id else name.casefold())
        return found.setdefault(key, Work(project_id, agent_id, name or SYSTEM))

    for arm, project_id, agent_id, text, count, different, first, last in sql.rows(
        *_statement(project_ids, period, kinds, columns, [*waiting])
    ):
        match arm:
            case "refused":
                of(project_id, agent_id, text or "many agents").refusals += int(count)
            case "slot":
                of(project_id, agent_id).columns[columns.of(begin_of(text))] += count
            case "kind" if text:
                of(project_id, agent_id).objects[text] = Objects(different, first, last)
            case "kind":
                of(project_id, agent_id).others = count
            case _:
                _complete(of(project_id, agent_id), text, count, first, waiting)
    return list(found.values())


def _complete(work: Work, name: str, kind: int, last_seen: str, waiting: Mapping[int, int]) -> None:
    work.name, work.is_person = name, kind == Agent.Kind.HUMAN
    work.last_seen_at = sql.read_time(last_seen) if last_seen else None
    work.waiting = waiting.get(work.agent_id or 0, 0)


def _statement(
    project_ids: Sequence[int],
    period: Period,
    kinds: Sequence[Kind],
    columns: Columns,
    waiting: Sequence[int],
) -> tuple[str, list[Any]]:
    """Its rows: which of four arms, project, agent, a text, a count, and what the arm has beside.

    The events of the period are read once: to join the agents to them would take half as long again.
    """
    begin, end = map(sql.stored_time, (period.begin, period.end))
    minute = sql.stored_time(period.begin.replace(second=0, microsecond=0))
    named, names = _named(kinds)
    events, own = sql.among("e.project_id", project_ids)
    refusals, _ = sql.among("r.project_id", project_ids)
    agents, _ = sql.among("a.project_id", project_ids)
    waits, senders = sql.among("a.id", waiting) if waiting else ("1 = 0", [])
    by_character = "" if sql.is_sqlite() else ' COLLATE "C"'
    statement = f"""
        WITH work AS MATERIALIZED (
            SELECT e.project_id, e.agent_id, {named} AS kind, e.ref{by_character} AS ref,
                substr(CAST(e.at AS text), 1, {CHARACTERS[columns.slot]}) AS slot
            FROM core_event e WHERE {events} AND e.at >= %s AND e.at < %s),
        refused AS MATERIALIZED (
            SELECT r.project_id, a.id AS agent_id, max(r.name) AS name, sum(r.count) AS times
            FROM core_refusal r LEFT JOIN core_agent a ON a.project_id = r.project_id AND a.folded = r.folded
            WHERE {refusals} AND r.minute >= %s AND r.last_at >= %s AND r.minute < %s AND r.first_at < %s
            GROUP BY r.project_id, a.id, r.folded)
        SELECT 'kind', project_id, agent_id, kind, count(*), count(DISTINCT ref), min(ref), max(ref)
            FROM work GROUP BY project_id, agent_id, kind
        UNION ALL SELECT 'slot', project_id, agent_id, slot, count(*), 0, '', ''
            FROM work GROUP BY project_id, agent_id, slot
        UNION ALL SELECT 'refused', project_id, agent_id, name, times, 0, '', '' FROM refused
        UNION ALL SELECT 'agent', a.project_id, a.id, a.name, a.kind, 0,
                coalesce(CAST(a.last_seen_at AS text), ''), ''
            FROM core_agent a WHERE {agents} AND ({waits}
                OR a.id IN (SELECT agent_id FROM work UNION SELECT agent_id FROM refused))"""
    values = [*names, *own, begin, end, *own, minute, begin, end, end, *own, *senders]
    return statement, values


def _named(kinds: Sequence[Kind]) -> tuple[str, list[str]]:
    """An expression that is the noun of an event's kind, or "" for an event of no kind."""
    whens, values = [], []
    for kind in kinds:
        conditions, used = ["e.noun = %s"], [kind.noun]
        if kind.verbs:
            conditions.append(f"e.verb IN ({sql.marks(kind.verbs)})")
            used += kind.verbs
        if kind.prefix:
            conditions.append(f"substr(e.ref, 1, {len(kind.prefix)}) = %s")
            used.append(kind.prefix)
        whens.append(f"WHEN {' AND '.join(conditions)} THEN %s")
        values += [*used, kind.noun]
    return f"CASE {' '.join(whens)} ELSE '' END", values
