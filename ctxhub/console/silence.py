"""What every page means by a silent agent or holder, in which words, and by which colours.

Silent is who was not heard of for half an hour: a warning. It is a danger only once others were refused by it
or wait for it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Exists, Q, QuerySet

from ctxhub.core.kit import clock
from ctxhub.core.models import Agent

SILENT_AFTER = timedelta(minutes=30)
IN_WORDS = "half hour"


class Presence(StrEnum):
    """In words. The name, in lower case, is the CSS class."""

    ACTIVE = "active"
    SILENT = "silent"
    AWAITED = "silent, others wait"
    NEVER = "never seen"

    @property
    def role(self) -> str:
        return self.name.lower()

    @property
    def is_silent(self) -> bool:
        return self in (Presence.SILENT, Presence.AWAITED)


# Of the theme's labels.
COLOURS: dict[str, str] = {
    Presence.ACTIVE: "success",
    Presence.SILENT: "warning",
    Presence.AWAITED: "danger",
}

# What shows that others were refused by an agent or wait for it. Each app appends its own.
awaited: list[Callable[[], Exists]] = []


def presence(heard_at: datetime | None, others_wait: bool) -> Presence:
    """Of one that holds or owes something, and was last heard of then."""
    if heard_at is not None and heard_at >= silent_since():
        return Presence.ACTIVE
    return Presence.AWAITED if others_wait else Presence.SILENT


def silent_since() -> datetime:
    """Who was not heard of since is silent."""
    return clock.now() - SILENT_AFTER


def heard(at: str) -> Q:
    """Those that are not silent, by the field that tells when each was last heard of."""
    return Q(**{f"{at}__gte": silent_since()})


def silent(at: str) -> Q:
    return Q(**{f"{at}__lt": silent_since()}) | Q(**{f"{at}__isnull": True})


def with_others_wait(agents: QuerySet[Agent]) -> QuerySet[Agent]:
    """Agents with what `presence_of` asks for."""
    conditions = Q()
    for make in awaited:
        conditions |= Q(make())
    return agents.annotate(others_wait=conditions)


def presence_of(agent: Agent) -> Presence:
    """Of an agent read by `with_others_wait`."""
    if agent.last_seen_at is None:
        return Presence.NEVER
    others_wait: bool = agent.others_wait  # type: ignore[attr-defined]
    return presence(agent.last_seen_at, others_wait)
