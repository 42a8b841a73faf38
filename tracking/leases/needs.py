"""Leases that wait for a person, and what the first page says of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Count, Min, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from ctxhub.console.needs.sources import (
    SHOWN,
    Ago,
    Button,
    Files,
    FoundNeeds,
    Name,
    Need,
    PageLink,
    Part,
    Reader,
    Since,
)
from ctxhub.console.silence import presence
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Refusal
from ctxhub.core.text.plurals import counted, often
from tracking.leases.granting import MOST_LIVE
from tracking.leases.silence import own_ref, silent_leases

# Live leases of some projects. The first condition is said as in the index tracking_lease_live.
_LIVE = "l.released_at IS NULL AND l.expires_at > %s AND {among}"


@frozen
class Holder:
    """An agent and live leases of it. `seen_at`: when it was last heard of, else when it took a lease.

    `refused`: how often others were refused because of them. `holders`: how many agents there are like it.
    """

    project_id: int
    agent_id: int
    name: str
    seen_at: datetime
    leases: int
    refused: int
    holders: int


def find_silent_holders(project_ids: Sequence[int], *, at_most: int) -> list[Holder]:
    """The silent holders of live leases; those in the way of others first."""
    refusals = Refusal.unscoped.filter(project=OuterRef("project"), ref=own_ref()).order_by()
    refused = Subquery(refusals.values("ref").annotate(times=Sum("count")).values("times"))
    leases = silent_leases().filter(project__in=project_ids).annotate(refused=Coalesce(refused, 0))
    by_agent = leases.order_by().values("project_id", "agent_id", "agent__name")
    since = Min(Coalesce("heard_at", "created_at"))
    found = list(
        by_agent.annotate(since=since, leases=Count("pk"), times=Sum("refused")).values_list(
            "project_id", "agent_id", "agent__name", "since", "leases", "times"
        )
    )
    found.sort(key=lambda each: (not each[-1], each[3], each[1]))
    return [Holder(*each, len(found)) for each in found[:at_most]]


def read_full_holders(project_ids: Sequence[int], at_least: int, now: datetime, limit: int) -> list[Holder]:
    """The holders of so many live leases, the one with most first."""
    among, values = sql.among("l.project_id", project_ids)
    found = sql.rows(
        f"""
        SELECT l.project_id, l.agent_id, min(a.name), max(l.created_at), count(*), 0, count(*) OVER ()
        FROM tracking_lease l JOIN core_agent a ON a.id = l.agent_id
        WHERE {_LIVE.format(among=among)} GROUP BY l.project_id, l.agent_id HAVING count(*) >= %s
        ORDER BY count(*) DESC, l.agent_id LIMIT %s""",
        [sql.stored_time(now), *values, at_least, limit],
    )
    return [_holder(row) for row in found]


def _holder(row: sql.Row) -> Holder:
    project_id, agent_id, name, seen_at, leases, refused, holders = row
    return Holder(project_id, agent_id, name, sql.read_time(seen_at), leases, int(refused), holders)


# Of one holder, in one form.
RELEASED_AT_ONCE = 50

HeldLease = tuple[int, str]
"""The id of a lease, and the first of its paths."""


def find_full_holders(project_ids: Sequence[int], *, at_least: int, at_most: int) -> list[Holder]:
    """The holders of so many live leases, the one with most first."""
    return read_full_holders(project_ids, at_least, clock.now(), at_most)


def silent_leases_of(agent_ids: Sequence[int], *, limit_of_each: int) -> Mapping[int, Sequence[HeldLease]]:
    """The live leases of silent holders by agent, at most `limit_of_each` of each, the oldest first."""
    if not agent_ids:
        return {}
    named = silent_leases().filter(agent__in=agent_ids).order_by("pk").annotate(path=Min("paths__pattern"))
    held: dict[int, list[HeldLease]] = defaultdict(list)
    for agent_id, lease_id, path in named.values_list("agent_id", "pk", "path"):
        if len(held[agent_id]) < limit_of_each:
            held[agent_id].append((lease_id, path))
    return held


LIST = "tracking_lease"
NEARLY = 0.9


# -- Silent holders --------------------------------------------------------------------------------


def silent_holders(reader: Reader) -> FoundNeeds:
    holders = find_silent_holders(reader.project_ids, at_most=SHOWN)
    held = silent_leases_of([each.agent_id for each in holders], limit_of_each=RELEASED_AT_ONCE)
    return FoundNeeds(
        [_silent_need(each, held[each.agent_id], reader) for each in holders if held.get(each.agent_id)],
        holders[0].holders if holders else 0,
        "leaseholders",
        "that fell silent",
        reader.list_url(LIST, state="silent"),
    )


def _silent_need(holder: "Holder", leases: Sequence[HeldLease], reader: Reader) -> Need:
    ids = ",".join(str(lease_id) for lease_id, _ in leases)
    release = Button("Release", reader.button_url(f"{LIST}_release", holder.project_id), "leases", ids, ADMIN)
    return Need(
        f"silent-{holder.agent_id}",
        holder.project_id,
        Priority.HIGH if holder.refused else Priority.MEDIUM,
        "lock_clock",
        _silent(holder, leases[0][1]),
        holder.seen_at,
        [PageLink("Open", _url(holder, reader, "silent")), release],
        look=f"ctx-{presence(None, bool(holder.refused)).role}",
    )


def _silent(holder: "Holder", path: str) -> list[Part]:
    others = f" and {counted(holder.leases - 1, 'more leases')}" if holder.leases > 1 else ""
    refused = f"; others were refused {often(holder.refused)}" if holder.refused else ""
    return [
        Name(holder.name, holder.agent_id),
        " holds ",
        Files(path),
        others,
        " and is silent ",
        Since(holder.seen_at),
        refused,
    ]


def _url(holder: "Holder", reader: Reader, state: str) -> str:
    return reader.list_url(LIST, holder.project_id, state=state, agent=holder.name)


# -- Holders of very many --------------------------------------------------------------------------


def full_holders(reader: Reader) -> FoundNeeds:
    holders = find_full_holders(reader.project_ids, at_least=round(MOST_LIVE * NEARLY), at_most=SHOWN)
    return FoundNeeds(
        [_full_need(each, reader) for each in holders],
        holders[0].holders if holders else 0,
        "limits",
        "of leases nearly reached",
        reader.list_url(LIST, state="live"),
    )


def _full_need(holder: "Holder", reader: Reader) -> Need:
    is_full = holder.leases >= MOST_LIVE
    return Need(
        f"full-{holder.agent_id}",
        holder.project_id,
        Priority.HIGH if is_full else Priority.MEDIUM,
        "speed",
        [
            Name(holder.name, holder.agent_id),
            f" holds {holder.leases} leases of at most {MOST_LIVE}, the last one taken ",
            Ago(holder.seen_at),
        ],
        holder.seen_at,
        [PageLink("Open", _url(holder, reader, "live"))],
    )
