"""Overviews of a project: stats, layers, agents, vocabulary; and long polling for updates."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce

from ctxhub.core import registry
from ctxhub.core.events import waiting
from ctxhub.core.events.counters import Stats
from ctxhub.core.events.log import count_updates, id_of, latest_cursor, read_new_events
from ctxhub.core.events.waiting import Wanted
from ctxhub.core.hub.named_views import register_view
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import EventCursor, format_time
from ctxhub.core.kit.inputs import MAX_LIMIT, clean_limit, clean_moment
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing, make_cursor, read_cursor
from ctxhub.core.kit.ordering import Ordering, way_of
from ctxhub.core.models import Agent, Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.queries import with_uses

NEVER = datetime(1970, 1, 1, tzinfo=UTC)

IN_ORDER = (
    *("agents", "decisions", "constraints", "messages", "changes", "files", "tags", "scopes", "layers"),
    *("contexts", "memories", "workflows", "scratchpads", "snapshots", "sessions", "leases"),
)
# What a project has before anybody writes.
WITHOUT_WRITING = ("agents", "tags", "scopes", "layers")
IN_EACH_LAYER = ("decisions", "changes", "constraints")

FACTS_IN_ORDER = ("session", "sessions", "leases", "unread", "writes", "reads", "tokens")

AgentFacts = Callable[[int, Sequence[str]], Mapping[str, Any]]
"""Takes a project id and case-folded agent names; returns the value or values of its columns by name."""

_agent_facts: dict[tuple[str, ...], AgentFacts] = {}


def count_all(project_id: int) -> dict[str, Any]:
    """The response of `stats`: the number of each noun's rows, or [active, all]."""
    nouns = registry.all_nouns()
    stats = Stats(project_id, {noun.kind: noun.counting(project_id) for noun in nouns if noun.counting})
    counts = {noun.plural: noun.count(stats) for noun in nouns if noun.count}
    return {plural: counts[plural] for plural in IN_ORDER if plural in counts} | counts


def is_empty(project_id: int) -> bool:
    """Whether nobody has written anything into the project."""
    counts = count_all(project_id).items()
    return not any(count not in (0, [0, 0]) for plural, count in counts if plural not in WITHOUT_WRITING)


@register_view("layer_summary", "What is in force in each layer, and the file changes of the last hour.")
def summarise_layers(
    project_id: int, *, limit: int = MAX_LIMIT, cursor: str | None = None, ordering: Ordering = None
) -> Listing:
    """The row counts of each layer, with empty layers: rows layer, decisions, changes, constraints.

    Each noun counts by itself: a join would multiply the counts.
    """
    limit, way = clean_limit(limit), way_of(ordering, "position")
    layers = Layer.objects.in_project(project_id)
    beyond, sign = ("lt", "-") if way.is_down else ("gt", "")
    if cursor:
        position, row_id = way.read(cursor, int, int)
        layers = layers.filter(
            Q(**{f"position__{beyond}": position}) | Q(position=position, **{f"pk__{beyond}": row_id})
        )
    in_order = layers.order_by(f"{sign}position", f"{sign}pk")
    found = list(in_order.values_list("position", "pk", "name")[: limit + 1])
    stats = Stats(project_id)
    counts = {noun.plural: noun.by_layer(stats) for noun in registry.all_nouns() if noun.by_layer}
    columns = [plural for plural in IN_EACH_LAYER if plural in counts]
    return Listing(
        columns=("layer", *columns),
        rows=[[name, *(counts[plural].get(pk, 0) for plural in columns)] for _, pk, name in found[:limit]],
        next=way.cursor(*found[limit - 1][:2]) if len(found) > limit else None,
        cursor_after=lambda count: way.cursor(*found[count - 1][:2]),
    )


def register_agent_facts(read: AgentFacts, *columns: str) -> None:
    """Add columns to the agent list, with one query for all of them."""
    _agent_facts[columns] = read


def agents_of(project_id: int) -> QuerySet[Agent]:
    """The agents of a project, last seen first, without those that only have a token so far."""
    return all_agents_of(project_id).exclude(last_seen_at=None, access_tokens__isnull=False)


def all_agents_of(project_id: int) -> QuerySet[Agent]:
    seen = Coalesce("last_seen_at", Value(NEVER))
    return Agent.objects.in_project(project_id).annotate(seen=seen).order_by("-seen")


def list_agents(
    project_id: int,
    *,
    limit: int = MAX_LIMIT,
    cursor: str | None = None,
    among: QuerySet[Agent] | None = None,
) -> Listing:
    """Agents of a project, all or some: rows name, last_seen, and the registered columns."""
    registered = {column for columns in _agent_facts for column in columns}
    columns = [column for column in FACTS_IN_ORDER if column in registered]

    def rows(agents: Sequence[Agent]) -> list[list[Any]]:
        facts = _read_facts(project_id, [agent.folded for agent in agents]) if agents else {}
        seen = [format_time(agent.last_seen_at) if agent.last_seen_at else None for agent in agents]
        return [
            [agent.name, last_seen, *(facts[column].get(agent.folded) for column in columns)]
            for agent, last_seen in zip(agents, seen, strict=True)
        ]

    agents = agents_of(project_id) if among is None else among
    return page_of(agents, ("name", "last_seen", *columns), rows, limit=limit, cursor=cursor)


def _read_facts(project_id: int, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The values of each registered column, by case-folded name."""
    facts: dict[str, Mapping[str, Any]] = {}
    for columns, read in _agent_facts.items():
        found = read(project_id, names)
        for position, column in enumerate(columns):
            facts[column] = (
                found if len(columns) == 1 else {name: values[position] for name, values in found.items()}
            )
    return facts


def count_vocabulary(
    project_id: int, *, limit: int = MAX_LIMIT, cursor: str | None = None
) -> dict[str, dict[str, int] | str]:
    """Layers (in their order), categories, tags and scopes (most used first), each with its use count.

    A page has up to `limit` of each; `next`, if one of them has more, is the cursor of the next.
    """
    start = read_cursor(cursor, int)[0] if cursor else 0
    end = start + clean_limit(limit)
    found = {
        "layers": _used(Layer.objects.in_project(project_id), start, end, "position", "pk"),
        "categories": _used(Category.objects.in_project(project_id), start, end, "-uses", "name"),
        "tags": _used(Tag.objects.in_project(project_id), start, end, "-uses", "name"),
        "scopes": _used(Scope.objects.in_project(project_id), start, end, "-uses", "name"),
    }
    has_more = any(len(words) > limit for words in found.values())
    return {
        **{kind: dict(words[:limit]) for kind, words in found.items()},
        **({"next": make_cursor(end)} if has_more else {}),
    }


def _used(words: QuerySet[Any], start: int, end: int, *order: str) -> list[tuple[str, int]]:
    """The words from one place to another, and the next if there is one."""
    return list(with_uses(words).order_by(*order).values_list("name", "uses")[start : end + 1])


def wait_for_updates(caller: Caller, *, since: str | None = None, wait_seconds: int = 30) -> dict[str, Any]:
    """Like `updates`, but waits until something is new to the caller since `since`, or since the call began.

    Events addressed to others are not new to the caller, nor are messages sent before. `since` is read once,
    when the call begins.
    """
    seconds = waiting.clean_seconds(wait_seconds)
    after = waiting.at_first_run(lambda: _event_before(caller.project_id, since))
    wanted = Wanted({caller.project_id: after}, caller.agent.casefold(), frozenset(), seconds)
    events = read_new_events(caller.project_id, after)
    if not any(wanted.is_news(caller.project_id, event) for event in events):
        waiting.wait_for_news(caller, seconds, after=events[-1].id if events else after)
    return count_updates(caller, since=str(EventCursor(after)))


def _event_before(project_id: int, since: str | None) -> int:
    """The id of the last event before `since`, or of the newest one."""
    start = clean_moment(since, "since")
    return latest_cursor(project_id).event_id if start is None else id_of(project_id, start)
