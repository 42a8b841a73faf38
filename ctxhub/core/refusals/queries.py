"""Reads refusals: of a range of time, of an object, of an agent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from django.db.models import QuerySet
from typing_extensions import TypedDict

from ctxhub.core.events.log import moment_of
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, LimitReached, NotAllowed
from ctxhub.core.kit.inputs import clean_moment, clean_one_of
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing, Row
from ctxhub.core.kit.ordering import Ordering, ordered
from ctxhub.core.refusals.models import Refusal
from ctxhub.toolbox.argument_types import About, Time, Wrote, one_of

CODES = (Conflict.code, NotAllowed.code, LimitReached.code)
# What the list can be ordered by: what an index has.
ORDERS = {"last": ["minute"]}
COLUMNS = ("agent", "session", "ref", "code", "count", "first", "last", "note")


class RefusalSeen(TypedDict):
    agent: Annotated[str, About("Empty: too many agents were refused in that hour to name them."), Wrote()]
    session: Annotated[str, About("That of the agent which was refused last; empty: none.")]
    ref: Annotated[str, About("The lease or the object that was refused; empty: the call named none.")]
    code: Annotated[str, one_of(*CODES)]
    count: Annotated[int, About("How often, within one minute.")]
    first: Time
    last: Time
    note: Annotated[str, About("The last error.")]


def refusals_of(project_id: int, ref: str) -> QuerySet[Refusal]:
    """The refusals that an object caused, newest first."""
    return Refusal.objects.in_project(project_id).filter(ref=ref).order_by("-minute", "-pk")


def refusals_between(
    project_id: int, since: datetime | None = None, until: datetime | None = None
) -> QuerySet[Refusal]:
    """The refusals of a range of time, newest first: those whose minute it overlaps."""
    rows = Refusal.objects.in_project(project_id)
    if since:
        rows = rows.filter(minute__gte=since.replace(second=0, microsecond=0), last_at__gte=since)
    if until:
        rows = rows.filter(minute__lt=until, first_at__lt=until)
    return rows.order_by("-minute", "-pk")


def list_refusals(
    project_id: int,
    *,
    by: str | None = None,
    ref: str | None = None,
    code: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A page of refusals, newest first; `since` and `until` as everywhere. Raises InvalidInput."""
    rows = refusals_between(
        project_id,
        moment_of(project_id, clean_moment(since, "since")),
        moment_of(project_id, clean_moment(until, "until")),
    )
    if by:
        rows = rows.filter(folded=by.strip().casefold())
    if ref:
        rows = rows.filter(ref=ref.strip())
    if code:
        rows = rows.filter(code=clean_one_of(code, CODES, "code"))
    return page_of(
        ordered(rows.order_by("-minute"), ordering, ORDERS), COLUMNS, _rows, limit=limit, cursor=cursor
    )


def _rows(refusals: Sequence[Refusal]) -> Sequence[Row]:
    return [
        [
            each.name,
            each.session,
            each.ref,
            each.code,
            each.count,
            format_time(each.first_at),
            format_time(each.last_at),
            each.note,
        ]
        for each in refusals
    ]
