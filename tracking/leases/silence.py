"""When the holder of a lease was last heard of, and whether others were refused because of it."""

from datetime import datetime
from typing import Any, cast

from django.db.models import Case, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, Greatest

from ctxhub.console.silence import Presence, presence, silent
from ctxhub.core.accounts.models import HeardSession
from ctxhub.core.kit import clock
from ctxhub.core.kit.holder import PART
from ctxhub.core.models import Refusal
from tracking.models import Lease


def with_silence(leases: QuerySet[Lease]) -> QuerySet[Lease]:
    """Annotate leases with what `presence_of_holder` asks for.

    `heard_at`: when the session of a lease was last heard of, also as a part or under its name of before; if
    no client names one, when its agent was seen.
    """
    sessions = HeardSession.unscoped.filter(
        Q(name=OuterRef("session"))
        | Q(name__startswith=Concat(OuterRef("session"), Value(PART)))
        | Q(now_called=OuterRef("session")),
        project=OuterRef("project"),
        folded=OuterRef("agent__folded"),
        made_up=False,
    )
    last = sessions.order_by().values("folded").annotate(last=Max("heard_at")).values("last")
    in_session = Greatest("created_at", Coalesce(Subquery(last), F("created_at")))
    of_agent = When(Q(session="") | Q(made_up=True), then=F("agent__last_seen_at"))
    annotated: Any = leases.annotate(heard_at=Case(of_agent, default=in_session), others_wait=_was_refused())
    return cast("QuerySet[Lease]", annotated)


def _was_refused() -> Exists:
    return Exists(Refusal.unscoped.filter(project=OuterRef("project"), ref=own_ref()))


def own_ref() -> Concat:
    """The ref of a lease, in a query of refusals within one of leases."""
    return Concat(Value("lease:"), Cast(OuterRef("pk"), TextField()))


def live_leases() -> QuerySet[Lease]:
    return Lease.unscoped.filter(released_at=None, expires_at__gt=clock.now())


def silent_leases() -> QuerySet[Lease]:
    """The live leases of silent holders."""
    return with_silence(live_leases()).filter(silent("heard_at"))


def heard_at(lease: Any) -> datetime | None:
    """When the holder of a lease that was read by `with_silence` was last heard of."""
    at: datetime | None = lease.heard_at
    return at


def presence_of_holder(lease: Any) -> Presence:
    """Of the holder of a lease that was read by `with_silence`."""
    return presence(heard_at(lease), lease.others_wait)


def others_were_refused() -> Exists:
    """Whether others were refused because of a live lease of an agent."""
    leases = live_leases().filter(agent=OuterRef("pk"))
    return Exists(leases.filter(_was_refused()))
