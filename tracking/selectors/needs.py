"""The leases that wait for a person: of holders that are silent, and of those that may soon take no more."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db.models import Min

from ctxhub.core.kit import clock
from tracking.models import Lease
from tracking.sql.needs import Holder, read_full_holders, read_silent_holders

# Of one holder, in one form.
RELEASED_AT_ONCE = 50

HeldLease = tuple[int, str]
"""The id of a lease, and the first of its paths."""


def find_silent_holders(project_ids: Sequence[int], silent_after: timedelta, *, at_most: int) -> list[Holder]:
    """The holders of live leases that were not seen for so long; those in the way of others first."""
    now = clock.now()
    return read_silent_holders(project_ids, now - silent_after, now, at_most)


def find_full_holders(project_ids: Sequence[int], *, at_least: int, at_most: int) -> list[Holder]:
    """The holders of so many live leases, the one with most first."""
    return read_full_holders(project_ids, at_least, clock.now(), at_most)


def live_leases_of(agent_ids: Sequence[int], *, limit_of_each: int) -> Mapping[int, Sequence[HeldLease]]:
    """The live leases by agent, at most `limit_of_each` of each, the oldest first."""
    if not agent_ids:
        return {}
    live = Lease.unscoped.filter(agent__in=agent_ids, released_at=None, expires_at__gt=clock.now())
    named = live.order_by("pk").annotate(path=Min("paths__pattern"))
    held: dict[int, list[HeldLease]] = defaultdict(list)
    for agent_id, lease_id, path in named.values_list("agent_id", "pk", "path"):
        if len(held[agent_id]) < limit_of_each:
            held[agent_id].append((lease_id, path))
    return held
