"""Reads what a board shows: the live leases, those that ended in a period, and the refusals they caused."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import QuerySet, Sum
from django.db.models.functions import Coalesce

from ctxhub.console.silence import Presence
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.refusals.queries import refusals_between
from tracking.leases.silence import heard_at, presence_of_holder, with_silence
from tracking.models import Lease

LIVE_SHOWN, ENDED_SHOWN = 500, 100
MARKS_READ = 2_000


@frozen
class Refused:
    """`count` refusals of an agent, within a minute."""

    agent: str
    code: str
    at: datetime
    count: int


@frozen
class Held:
    """A lease. `end`: when it ended, or when it expires. `refused`: how often others were, in the period.

    `heard_at`: when its session was last heard of, or its agent if it has none.
    """

    lease: Lease
    paths: Sequence[str]
    end: datetime
    is_live: bool
    presence: Presence
    refused: int
    refusals: Sequence[Refused]
    heard_at: datetime | None = None

    @property
    def role(self) -> str:
        """Its CSS class."""
        if not self.is_live:
            return "ended"
        return self.presence.role if self.is_silent else "live"

    @property
    def is_silent(self) -> bool:
        return self.is_live and self.presence.is_silent


@frozen
class FoundLeases:
    """The live leases, soonest to expire first, and the last ended; how many of each were left out."""

    live: Sequence[Held]
    ended: Sequence[Held]
    more_live: int
    more_ended: int


def find_leases(project: Project, period: Period, now: datetime) -> FoundLeases:
    """The number of statements does not grow with the leases."""
    leases = Lease.objects.in_project(project.pk)
    live = leases.filter(released_at=None, expires_at__gt=now)
    ended = leases.annotate(end=Coalesce("released_at", "expires_at")).filter(
        end__gt=period.begin, end__lte=now, created_at__lt=period.end
    )
    live_shown = list(_with_paths(live.order_by("expires_at", "pk"))[:LIVE_SHOWN])
    ended_shown = list(_with_paths(ended.order_by("-end", "-pk"))[:ENDED_SHOWN])
    shown = [lease.ref for lease in (*live_shown, *ended_shown)]
    counts, refusals = _refusals(project, period, shown) if shown else ({}, {})

    def held(lease: Lease) -> Held:
        is_live = lease.state(now) == "live"
        return Held(
            lease,
            sorted(path.pattern for path in lease.paths.all()),
            lease.released_at or lease.expires_at,
            is_live,
            presence_of_holder(lease),
            counts.get(lease.ref, 0),
            refusals.get(lease.ref, ()),
            heard_at(lease),
        )

    return FoundLeases(
        [held(lease) for lease in live_shown],
        [held(lease) for lease in ended_shown],
        _left_out(live, live_shown, LIVE_SHOWN),
        _left_out(ended, ended_shown, ENDED_SHOWN),
    )


def _with_paths(leases: QuerySet[Lease]) -> QuerySet[Lease]:
    return with_silence(leases).select_related("agent").prefetch_related("paths")


def _left_out(leases: QuerySet[Lease], shown: Sequence[Lease], most: int) -> int:
    return leases.count() - len(shown) if len(shown) == most else 0


def _refusals(
    project: Project, period: Period, refs: Sequence[str]
) -> tuple[Mapping[str, int], Mapping[str, Sequence[Refused]]]:
    """How often others were refused because of each lease, and when: of all at most the newest 2,000."""
    rows = refusals_between(project.pk, period.begin, period.end).filter(ref__in=refs)
    counts: Counter[str] = Counter(
        dict(rows.order_by().values_list("ref").annotate(Sum("count")).values_list("ref", "count__sum"))
    )
    newest: dict[str, list[Refused]] = defaultdict(list)
    found = rows.values_list("ref", "name", "code", "last_at", "count")[:MARKS_READ]
    for ref, name, code, at, count in found:
        newest[ref].append(Refused(name, code, at, count))
    return counts, newest
